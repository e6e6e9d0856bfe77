// The root command: from flags to a configuration, from a configuration to a mode.
import { dirname } from "node:path";
import { createApp } from "../app/app.ts";
import type { ChosenSession } from "../app/choose-session.ts";
import { createProvider, createRefusal } from "../app/create-provider.ts";
import { loadConfig } from "../app/load-config.ts";
import { createModelChoice } from "../app/model-choice.ts";
import { foreignToolsIn, loadPermissions, withReadable } from "../app/permissions.ts";
import { findProjectFolder, loadProjectFile, type ProjectFile } from "../app/project.ts";
import { textOrFile } from "../app/prompt-text.ts";
import { loadResources } from "../app/resources.ts";
import { createSessions } from "../app/sessions.ts";
import { systemPromptText } from "../app/system-prompt.ts";
import { type Config, type Flags, homeFolder, type LoadedFile, requireKey } from "../config/config.ts";
import { createHeadlessAsk } from "../modes/headless-ask.ts";
import { runPrint } from "../modes/print.ts";
import { forReader } from "../modes/show.ts";
import { AppError } from "../util/error.ts";
import { log } from "../util/log.ts";
import { resolvePath } from "../util/paths.ts";
import { foreignArgs, rootArgs } from "./args.ts";
import { type CliContext, defineCommand } from "./command.ts";
import type { ParsedFlags } from "./parse-args.ts";
import { readTask } from "./read-task.ts";
import { parseApproval, parseMode, runJsonMode, runRpcMode } from "./run-records.ts";

export const root = defineCommand({
  meta: {
    name: "pi-ts",
    description: "A coding agent: reads, edits and writes files, runs commands, asks before what could hurt",
  },
  args: rootArgs,
  async run(args, context) {
    const { io, env, words } = context;
    if (args.export !== undefined) return exportSession(args.export, args["session-dir"], context);
    if (args["list-models"] !== undefined) return listModels(args["list-models"], args.provider, context);
    if (args.sessions) return (await import("./sessions.ts")).listSessions(args["session-dir"], false, context);
    noteForeignFlags(args);
    const given: Flags = {
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
      tools: offeredTools(args),
      noTools: args["no-tools"],
      excludeTools: args["exclude-tools"],
      allow: args.allow,
      deny: args.deny,
      sandbox: args.sandbox,
      sandboxNet: args["sandbox-net"],
      quiet: args.verbose ? false : args.quiet,
      contextFiles: args["context-files"],
      autoCompact: args["auto-compact"],
      ...promptFlags(args, context.cwd),
    };
    const mode = parseMode(args.mode);
    const approval = parseApproval(args.approval, args["approval-timeout"]);
    if (mode === "rpc" && words.length > 0) {
      throw new AppError("usage", "RPC mode takes its tasks from stdin", { hint: "Send them as prompt commands." });
    }
    const oneShot =
      args.print || mode === "json" || mode === "rpc" || args["print-system-prompt"] || words.includes("-");
    const chosen = args["print-system-prompt"] ? undefined : await chooseSession(args, context);
    const cwd = chosen?.cwd ?? context.cwd;
    const isRepl = !oneShot && io.isTerminal(0) && io.isTerminal(1);
    const trust = args.approve ?? args["trust-project"];
    const project = await loadProjectFile({
      cwd,
      env,
      trust,
      ask: isRepl ? askProjectTrust : undefined,
      notify: (text) => args.quiet || notify(text),
    });
    const { flags: named, scope } = await withModelPatterns(given, args.models, env, project);
    // A session that goes on keeps its model, whatever there is to change to.
    const flags = args.model === undefined && chosen?.session.stored() ? given : named;
    const settled = chosen?.session.stored()
      ? await withOwnSettings(flags, chosen, env, project)
      : { flags, notes: [] };
    const config = await loadConfig(settled.flags, env, project);
    if (!config.quiet) for (const note of [...(chosen?.notes ?? []), ...settled.notes]) notify(note);
    noteForeignTools(config);
    const projectFolder = trust ? await findProjectFolder(cwd, config.home) : project && dirname(project.path);
    const resources = await loadResources({ config, projectFolder, notify: (text) => config.quiet || notify(text) });
    const permissions = withReadable(await loadPermissions(config, cwd, env), resources.isSkillFile);
    if (args["print-system-prompt"]) {
      const { contextFiles, systemPrompt } = config;
      const text = systemPromptText({
        cwd,
        tools: permissions.tools.specs,
        contextFiles,
        systemPrompt,
        skills: resources.prompt,
      });
      io.stdout(`${forReader(text, io)}\n`);
      return 0;
    }
    // A missing key is told before stdin is read or a terminal is set up.
    const { record, replay } = args;
    const isRpc = mode === "rpc" && !args["print-system-prompt"];
    // A client of RPC mode can still choose another model.
    if (replay === undefined && !isRpc) requireKey(config.provider);
    else if (record !== undefined && replay !== undefined)
      throw new AppError("usage", "--record and --replay exclude each other");
    const models = createModelChoice({ flags, scope, env, cwd, project, startedWith: config, record, replay });
    const { provider } = config;
    const sessionFlags = { noSession: args["no-session"], sessionDir: args["session-dir"] };
    const sessions = createSessions(sessionFlags, { cwd, env, home: config.home });
    const createParts = async () => ({
      models,
      resources,
      session: chosen?.session ?? sessions.create(),
      sessions,
      config,
      permissions,
      provider: await createProvider(provider, { env, cwd, record, replay }).catch((error) => {
        if (isRpc && error instanceof AppError && error.code === "missing_key") return createRefusal(provider, error);
        throw error;
      }),
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
    if (isRpc) return runRpcMode(await createParts(), approval, io);
    const task = await readTask(words, io);
    const ask = io.isTerminal(0) && io.isTerminal(2) ? await terminalAsk(env) : createHeadlessAsk(io);
    const parts = { ...(await createParts()), ask };
    return mode === "json" ? runJsonMode(parts, task, io) : runPrint(createApp(parts), task, io);
  },
});

/** The commands of these names do it. */
async function exportSession(session: string, sessionDir: string | undefined, context: CliContext): Promise<number> {
  const { sessions } = await import("./sessions.ts");
  return sessions.run({ "session-dir": sessionDir }, { ...context, words: ["export", session, ...context.words] });
}

async function listModels(search: string, provider: string | undefined, context: CliContext): Promise<number> {
  const { models } = await import("./models.ts");
  return models.run({ provider }, { ...context, words: search === "" ? context.words : [search, ...context.words] });
}

/** A model's exact id needs none of the code that understands patterns, but only that code knows what is one. */
async function withModelPatterns(
  flags: Flags,
  patterns: string | undefined,
  env: CliContext["env"],
  project?: LoadedFile,
) {
  if (flags.model === undefined && patterns === undefined) return { flags, scope: undefined };
  const { resolveModelFlags } = await import("../app/model-patterns.ts");
  return resolveModelFlags(flags, patterns, env, project);
}

type RootFlags = ParsedFlags<typeof rootArgs>;

/** Without the built-in ones there are those of MCP servers. */
function offeredTools(args: RootFlags): string | undefined {
  return args.tools ?? (args["no-builtin-tools"] && !args["no-tools"] ? "mcp__*" : undefined);
}

function promptFlags(args: RootFlags, cwd: string): Partial<Flags> {
  const { "system-prompt": replacement, "append-system-prompt": appended } = args;
  const absolute = (paths: readonly string[] | undefined) => paths?.map((path) => resolvePath(cwd, path));
  return {
    systemPrompt: replacement === undefined ? undefined : textOrFile(replacement, cwd),
    appendSystemPrompt: appended?.map((text) => textOrFile(text, cwd)),
    skills: absolute(args.skill),
    noSkills: args["no-skills"],
    promptTemplates: absolute(args["prompt-template"]),
    noPromptTemplates: args["no-prompt-templates"],
  };
}

function noteForeignFlags(args: RootFlags): void {
  const given = Object.keys(foreignArgs).filter((name) => args[name as keyof RootFlags] !== undefined);
  if (given.length > 0) notify(`Without a meaning here: ${given.map((name) => `--${name}`).join(", ")}`);
}

function noteForeignTools({ quiet, permissions }: Config): void {
  const given = foreignToolsIn(permissions);
  if (given.length > 0 && !quiet) notify(`There are no such tools here: ${given.join(", ")}`);
}

/** Undefined for a new session without anything said of it: the code that finds others is loaded only then. */
async function chooseSession(
  args: ParsedFlags<typeof rootArgs>,
  { io, env, cwd }: CliContext,
): Promise<ChosenSession | undefined> {
  if (args.session !== undefined && args.resume !== undefined) {
    throw new AppError("usage", "--session and --resume exclude each other", { hint: "Choose one of them." });
  }
  const choice = {
    continue: args.continue,
    resume: args.session ?? args.resume,
    fork: args.fork,
    id: args["session-id"],
    name: args.name,
    noSession: args["no-session"],
    sessionDir: args["session-dir"],
  };
  const { continue: goesOn, resume, fork, id, name } = choice;
  if (!goesOn && [resume, fork, id, name].every((value) => value === undefined)) return undefined;
  if (args.session?.trim() === "") throw new AppError("usage", "--session needs a path or an id");
  const canAsk = resume === "" && io.isTerminal(0) && io.isTerminal(2);
  const pick = canAsk ? (await import("../modes/pick-session.ts")).pickSession : undefined;
  const { chooseSession: choose } = await import("../app/choose-session.ts");
  return choose(choice, { cwd, env, home: homeFolder(env) }, pick);
}

async function withOwnSettings(flags: Flags, { session }: ChosenSession, env: CliContext["env"], project?: LoadedFile) {
  const { withSessionSettings } = await import("../app/session-settings.ts");
  return withSessionSettings(flags, session, env, project);
}

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
