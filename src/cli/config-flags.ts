// The flags of the command line in the words of the configuration.
import { textOrFile } from "../app/prompt-text.ts";
import type { Flags } from "../config/config.ts";
import { resolvePath } from "../util/paths.ts";
import type { rootArgs } from "./args.ts";
import type { ParsedFlags } from "./parse-args.ts";

export type RootFlags = ParsedFlags<typeof rootArgs>;

/** `lastWord` stands at the end of the system prompt. Throws `AppError` `usage` for a file that cannot be read. */
export function toConfigFlags(args: RootFlags, cwd: string, lastWord: string | undefined): Flags {
  return {
    provider: args.provider,
    model: args.model,
    baseUrl: args["base-url"],
    apiKey: args["api-key"],
    maxTokens: args["max-tokens"],
    maxTurns: args["max-turns"],
    maxToolCalls: args["max-tool-calls"],
    timeout: args.timeout,
    maxCost: args["max-cost"],
    maxToolOutput: args["max-tool-output"],
    maxRetries: args["max-retries"],
    thinking: args.thinking,
    yolo: args.yolo,
    readOnly: args["read-only"],
    tools: offeredTools(args),
    noTools: args["no-tools"],
    excludeTools: args["exclude-tools"],
    allow: args.allow,
    deny: args.deny,
    sandbox: args.sandbox,
    sandboxNet: args["sandbox-net"],
    quiet: args.verbose ? false : args.quiet,
    markdown: args.markdown,
    contextFiles: args["context-files"],
    autoCompact: args["auto-compact"],
    ...promptFlags(args, cwd, lastWord),
  };
}

/** Without the built-in ones there are those of MCP servers. */
function offeredTools(args: RootFlags): string | undefined {
  return args.tools ?? (args["no-builtin-tools"] && !args["no-tools"] ? "mcp__*" : undefined);
}

function promptFlags(args: RootFlags, cwd: string, lastWord: string | undefined): Partial<Flags> {
  const { "system-prompt": replacement, "append-system-prompt": appended = [] } = args;
  const absolute = (paths: readonly string[] | undefined) => paths?.map((path) => resolvePath(cwd, path));
  return {
    systemPrompt: replacement === undefined ? undefined : textOrFile(replacement, cwd),
    appendSystemPrompt: [
      ...appended.map((text) => textOrFile(text, cwd)),
      ...(lastWord === undefined ? [] : [lastWord]),
    ],
    skills: absolute(args.skill),
    noSkills: args["no-skills"],
    promptTemplates: absolute(args["prompt-template"]),
    noPromptTemplates: args["no-prompt-templates"],
  };
}
