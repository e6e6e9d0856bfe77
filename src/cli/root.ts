// The root command: from flags to a configuration, from a configuration to a mode.
import { createApp } from "../app/app.ts";
import { createProvider } from "../app/create-provider.ts";
import { loadConfig } from "../app/load-config.ts";
import { loadPermissions } from "../app/permissions.ts";
import { loadProjectFile, type ProjectFile } from "../app/project.ts";
import { newSession } from "../app/sessions.ts";
import { systemPromptText } from "../app/system-prompt.ts";
import { type Flags, requireKey } from "../config/config.ts";
import { createHeadlessAsk } from "../modes/headless-ask.ts";
import { runPrint } from "../modes/print.ts";
import { forReader } from "../modes/show.ts";
import { AppError } from "../util/error.ts";
import { log } from "../util/log.ts";
import { rootArgs } from "./args.ts";
import { type CliContext, defineCommand } from "./command.ts";
import { readTask } from "./read-task.ts";

export const root = defineCommand({
  meta: {
    name: "pi-ts",
    description: "A coding agent: reads, edits and writes files, runs commands, asks before what could hurt",
  },
  args: rootArgs,
  async run(args, { io, env, cwd, words }) {
    const flags: Flags = {
      provider: args.provider,
      model: args.model,
      baseUrl: args["base-url"],
      apiKey: args["api-key"],
      maxTokens: args["max-tokens"],
      maxTurns: args["max-turns"],
      maxToolOutput: args["max-tool-output"],
      maxRetries: args["max-retries"],
      thinking: args.thinking,
      yolo: args.yolo,
      readOnly: args["read-only"],
      tools: args.tools,
      excludeTools: args["exclude-tools"],
      allow: args.allow,
      deny: args.deny,
      sandbox: args.sandbox,
      sandboxNet: args["sandbox-net"],
      quiet: args.quiet,
      contextFiles: args["context-files"],
    };
    const oneShot = args.print || args["print-system-prompt"] || words.includes("-");
    const isRepl = !oneShot && io.isTerminal(0) && io.isTerminal(1);
    const project = await loadProjectFile({
      cwd,
      env,
      trust: args["trust-project"] ?? false,
      ask: isRepl ? askProjectTrust : undefined,
      notify: (text) => args.quiet || notify(text),
    });
    const config = await loadConfig(flags, env, project);
    const permissions = await loadPermissions(config, cwd, env);
    if (args["print-system-prompt"]) {
      const text = systemPromptText(cwd, permissions.tools.specs, config.contextFiles);
      io.stdout(`${forReader(text, io)}\n`);
      return 0;
    }
    // A missing key is told before stdin is read or a terminal is set up.
    const { record, replay } = args;
    if (replay === undefined) requireKey(config.provider);
    else if (record !== undefined) throw new AppError("usage", "--record and --replay exclude each other");
    const { provider } = config;
    const sessionFlags = { session: args.session, sessionDir: args["session-dir"] };
    const createNewSession = () => newSession(sessionFlags, { cwd, env, home: config.home });
    const createParts = async () => ({
      session: createNewSession(),
      newSession: createNewSession,
      config,
      permissions,
      provider: await createProvider(provider, { env, cwd, record, replay }),
      cwd,
      env,
      onBug,
      notify,
    });
    if (isRepl) {
      const parts = await createParts();
      const { runRepl } = await import("../modes/repl/index.ts");
      return runRepl((hooks) => createApp({ ...parts, ...hooks }), { firstTask: words.join(" "), env, cwd }, io);
    }
    const task = await readTask(words, io);
    const ask = io.isTerminal(0) && io.isTerminal(2) ? await terminalAsk(env) : createHeadlessAsk(io);
    return runPrint(createApp({ ...(await createParts()), ask }), task, io);
  },
});

async function terminalAsk(env: CliContext["env"]) {
  const { createTerminalAsk } = await import("../modes/terminal-ask.ts");
  return createTerminalAsk(env);
}

async function askProjectTrust(file: ProjectFile) {
  const { askTrust } = await import("../modes/terminal-ask.ts");
  return askTrust(file);
}

function onBug(error: unknown): void {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  log().error(`A tool failed in a way it should not: ${text}`);
}

function notify(text: string): void {
  log().warn(text);
}
