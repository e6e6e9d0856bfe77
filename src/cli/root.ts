// The root command: from flags to a configuration, from a configuration to a mode.
import { createApp } from "../app/app.ts";
import { createProvider } from "../app/create-provider.ts";
import { loadConfig } from "../app/load-config.ts";
import { systemPromptText } from "../app/system-prompt.ts";
import { type Flags, requireKey } from "../config/config.ts";
import { createHeadlessAsk } from "../modes/headless-ask.ts";
import { runPrint } from "../modes/print.ts";
import { AppError } from "../util/error.ts";
import { log } from "../util/log.ts";
import { rootArgs } from "./args.ts";
import { defineCommand } from "./command.ts";
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
      quiet: args.quiet,
      contextFiles: args["context-files"],
    };
    const config = await loadConfig(flags, env);
    if (args["print-system-prompt"]) {
      io.stdout(`${systemPromptText(cwd, config.contextFiles)}\n`);
      return 0;
    }
    // A missing key is told before stdin is read or a terminal is set up.
    const { record, replay } = args;
    if (replay === undefined) requireKey(config.provider);
    else if (record !== undefined) throw new AppError("usage", "--record and --replay exclude each other");
    const { provider } = config;
    const createParts = async () => ({
      config,
      provider: await createProvider(provider, { env, cwd, record, replay }),
      cwd,
      env,
      onBug,
      notify,
    });
    if (!args.print && io.isTerminal(0) && io.isTerminal(1)) {
      const parts = await createParts();
      const { runRepl } = await import("../modes/repl/index.ts");
      return runRepl((hooks) => createApp({ ...parts, ...hooks }), { firstTask: words.join(" "), env, cwd }, io);
    }
    const task = await readTask(words, io, config.quiet);
    const ask = io.isTerminal(0) && io.isTerminal(2) ? await terminalAsk() : createHeadlessAsk(io);
    return runPrint(createApp({ ...(await createParts()), ask }), task, io);
  },
});

async function terminalAsk() {
  const { createTerminalAsk } = await import("../modes/terminal-ask.ts");
  return createTerminalAsk();
}

function onBug(error: unknown): void {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  log().error(`A tool failed in a way it should not: ${text}`);
}

function notify(text: string): void {
  log().warn(text);
}
