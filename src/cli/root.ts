// The root command: from flags to a configuration, from a configuration to a mode.
import { dirname } from "node:path";
import type { App, AppOptions } from "../app/app.ts";
import type { ChosenSession } from "../app/choose-session.ts";
import { createApp } from "../app/create-app.ts";
import { createProvider, createRefusal } from "../app/create-provider.ts";
import { beforeDeadline } from "../app/deadline.ts";
import { loadConfig } from "../app/load-config.ts";
import { type Mcp, startMcp } from "../app/mcp.ts";
import { createModelChoice, type ModelChoice } from "../app/model-choice.ts";
import { loadPermissions, type Permissions, withReadable, withServerTools } from "../app/permissions.ts";
import { findProjectFolder, loadProjectFile, type ProjectFile } from "../app/project.ts";
import { loadResources, type Resources } from "../app/resources.ts";
import { createSessions } from "../app/sessions.ts";
import { systemPromptText } from "../app/system-prompt.ts";
import { type Config, type Flags, homeFolder, type LoadedFile, requireKey, requirePrice } from "../config/config.ts";
import { createHeadlessAsk } from "../modes/headless-ask.ts";
import { toVerdict } from "../modes/one-shot.ts";
import { runPrint } from "../modes/print.ts";
import { forReader } from "../modes/show.ts";
import { AppError, toAppError } from "../util/error.ts";
import { log } from "../util/log.ts";
import { rootArgs, rootMeta } from "./args.ts";
import { type CliContext, defineCommand } from "./command.ts";
import { type RootFlags, toConfigFlags } from "./config-flags.ts";
import { noteForeignFlags, noteForeignTools, noteNearCommand, notify } from "./notices.ts";
import { readTask } from "./read-task.ts";
import type { ResultFile } from "./result-file.ts";
import { parseApproval, parseMode, runJsonMode, runRpcMode, tellUnbegun, watchStart } from "./run-records.ts";

export const root = defineCommand({
  meta: rootMeta,
  args: rootArgs,
  async run(args, context) {
    if (args.export !== undefined) return exportSession(args.export, args["session-dir"], context);
    if (args["list-models"] !== undefined) return listModels(args["list-models"], args.provider, context);
    if (args.sessions) return (await import("./sessions.ts")).listSessions(args["session-dir"], false, context);
    let result: ResultFile | undefined;
    let hasBegun = false;
    const unwatch = args.mode === "json" ? watchStart(context.io) : undefined;
    const begin = () => {
      hasBegun = true;
      unwatch?.();
    };
    try {
      result = args.result === undefined ? undefined : await openResult(args.result, args, context);
      return await start(args, context, begin, result);
    } catch (thrown) {
      result?.fail(thrown);
      if (args.mode === "json" && !hasBegun) await tellUnbegun(toVerdict(toAppError(thrown)), context.io);
      throw thrown;
    } finally {
      unwatch?.();
    }
  },
});

async function openResult(path: string, args: RootFlags, context: CliContext): Promise<ResultFile> {
  needsOneShot("--result", args, context);
  const { openResultFile } = await import("./result-file.ts");
  return openResultFile(path, context.cwd);
}

/** From the flags to the end of the mode that they ask for. `begin` is told when all is ready for the task. */
async function start(args: RootFlags, context: CliContext, begin: () => void, result?: ResultFile): Promise<number> {
  const { io, env } = context;
  const mode = parseMode(args.mode);
  const approval = parseApproval(args.approval, args["approval-timeout"]);
  if (mode === "rpc" && context.words.length > 0) {
    throw new AppError("usage", "RPC mode takes its tasks from stdin", { hint: "Send them as prompt commands." });
  }
  const isRepl = isInteractive(args, context);
  const schemaText = args["output-schema"];
  if (schemaText !== undefined && mode !== "rpc") needsOneShot("--output-schema", args, context);
  const schema = schemaText === undefined ? undefined : await loadSchema(schemaText, context.cwd);
  const given = toConfigFlags(args, context.cwd, schema?.instructions);
  const chosen = args["print-system-prompt"] ? undefined : await chooseSession(args, context);
  const cwd = chosen?.cwd ?? context.cwd;
  const trust = args.approve ?? args["trust-project"];
  const place = {
    cwd,
    env,
    trust,
    ask: isRepl ? askProjectTrust : undefined,
    notify: (text: string) => void (args.quiet || notify(text)),
  };
  const project = await loadProjectFile(place);
  const { flags: named, scope } = await withModelPatterns(given, args.models, env, project);
  // A session that goes on keeps its model, whatever there is to change to.
  const flags = args.model === undefined && chosen?.session.stored() ? given : named;
  const settled = chosen?.session.stored() ? await withOwnSettings(flags, chosen, env, project) : { flags, notes: [] };
  const config = await loadConfig(settled.flags, env, project);
  if (!config.quiet) {
    noteForeignFlags(args);
    if (!args.print) noteNearCommand(context);
    for (const note of [...(chosen?.notes ?? []), ...settled.notes]) notify(note);
    noteForeignTools(config);
  }
  const projectFolder = trust ? await findProjectFolder(cwd, config.home) : project && dirname(project.path);
  const resources = await loadResources({
    config,
    projectFolder,
    untrustedFolder: async () => (projectFolder === undefined ? findProjectFolder(cwd, config.home) : undefined),
    notify: (text) => config.quiet || notify(text),
  });
  let mcp: Mcp | undefined;
  const reads = (toolName: string) => mcp?.reads(toolName) ?? false;
  const permissions = withReadable(await loadPermissions(config, cwd, env, reads), resources.isSkillFile);
  const startServers = async () => {
    if (!args["no-mcp"]) mcp = await startMcp(config, { ...place, files: args["mcp-config"] ?? [] });
  };
  if (args["print-system-prompt"]) {
    try {
      await startServers();
      io.stdout(`${forReader(await describePrompt({ config, cwd, permissions, resources, mcp }), io)}\n`);
    } finally {
      await mcp?.close();
    }
    return 0;
  }
  // A missing key is told before stdin is read or a terminal is set up.
  const { record, replay } = args;
  const isRpc = mode === "rpc";
  // A client of RPC mode can still choose another model.
  if (replay === undefined && !isRpc) requireKey(config.provider);
  else if (record !== undefined && replay !== undefined)
    throw new AppError("usage", "--record and --replay exclude each other");
  requirePrice(config);
  const models = createModelChoice({ flags, scope, env, cwd, project, startedWith: config, record, replay });
  const fallbacks = args.fallback === undefined ? undefined : await loadFallbackModels(args.fallback, args, models);
  const { provider } = config;
  const sessionFlags = { noSession: args["no-session"], sessionDir: args["session-dir"] };
  const sessions = createSessions(sessionFlags, { cwd, env, home: config.home });
  const createParts = async () => ({
    models,
    resources,
    mcp,
    session: chosen?.session ?? sessions.create(),
    sessions,
    config,
    permissions,
    provider: await createProvider(provider, { env, cwd, record, replay }).catch((error) => {
      if (isRpc && error instanceof AppError && error.code === "missing_key") return createRefusal(provider, error);
      throw error;
    }),
    fallbacks,
    review: schema?.review,
    failOnDenied: args["fail-on-denied"] && !isRepl,
    cwd,
    env,
    onBug,
    notify,
  });
  async function runMode(): Promise<number> {
    if (isRpc) return runRpcMode(await createParts(), approval, io);
    const { words, files, images } = await readFiles(context, config);
    if (isRepl) {
      const parts = await createParts();
      const { runRepl } = await import("../modes/repl/index.ts");
      const firstTask = { shown: context.words.join(" "), text: words.join(" "), files, images };
      return runRepl((hooks) => createApp({ ...parts, ...hooks }), { firstTask, env, cwd }, io);
    }
    const deadline = config.timeoutMs;
    if (deadline !== undefined) (await import("./watchdog.ts")).startWatchdog(deadline, io, result);
    const text = await beforeDeadline(readTask(words, files !== undefined, io), deadline);
    const ask = io.isTerminal(0) && io.isTerminal(2) ? await terminalAsk(env) : createHeadlessAsk(io);
    const parts = { ...(await createParts()), ask, deadline };
    const oneShot = { task: { text, files, images }, answersJson: schema !== undefined, settle: result?.settle };
    function makeApp(hooks: Pick<AppOptions, "ready">): App {
      const app = createApp({ ...parts, ...hooks });
      result?.follow(app);
      begin();
      return app;
    }
    return mode === "json" ? runJsonMode(makeApp, oneShot, io) : runPrint(makeApp({}), oneShot, io);
  }
  try {
    await startServers();
    return await runMode();
  } finally {
    await mcp?.close();
  }
}

interface PromptParts {
  readonly config: Config;
  readonly cwd: string;
  readonly permissions: Permissions;
  readonly resources: Resources;
  readonly mcp: Mcp | undefined;
}

/** The system prompt that a run would send, with the tools of those servers that are there. */
async function describePrompt({ config, cwd, permissions, resources, mcp }: PromptParts): Promise<string> {
  const { contextFiles, systemPrompt } = config;
  await mcp?.ready(new AbortController().signal);
  for (const text of mcp?.takeNotices() ?? []) notify(text);
  const tools = (mcp ? withServerTools(permissions, mcp.tools()) : permissions.tools).specs;
  const parts = { skills: resources.prompt, servers: mcp?.instructions() };
  return systemPromptText({ cwd, tools, contextFiles, systemPrompt, ...parts });
}

/** Whether the flags and the terminal make it the REPL. */
function isInteractive(args: RootFlags, { io, words }: CliContext): boolean {
  const oneShot =
    args.print || args.mode !== undefined || args["print-system-prompt"] || words.some((word) => word === "-");
  return !oneShot && io.isTerminal(0) && io.isTerminal(1);
}

function needsOneShot(flag: string, args: RootFlags, context: CliContext): void {
  if (args.mode !== "rpc" && !isInteractive(args, context)) return;
  throw new AppError("usage", `${flag} is for runs of one task`, { hint: "Add -p, or --mode json." });
}

async function loadSchema(value: string, cwd: string) {
  const { loadOutputSchema } = await import("../app/output-schema.ts");
  return loadOutputSchema(value, cwd);
}

async function loadFallbackModels(names: string, { record, replay }: RootFlags, models: ModelChoice) {
  if (record !== undefined || replay !== undefined) {
    throw new AppError("usage", `--fallback and ${record === undefined ? "--replay" : "--record"} exclude each other`);
  }
  const { loadFallbacks } = await import("../app/fallbacks.ts");
  return loadFallbacks(names, models);
}

/** The words of the task, and the `@file`s among them with what is in them. */
async function readFiles({ words, literal, cwd }: CliContext, { model }: Config) {
  if (!words.some((word) => word.startsWith("@"))) return { words };
  const { readFileArgs, splitFileArgs } = await import("../app/file-arguments.ts");
  const split = splitFileArgs(words, literal, cwd);
  if (split.paths.length === 0) return { words };
  const acceptsImages = model.input.includes("image");
  const { text, images } = await readFileArgs(split.paths, { cwd, acceptsImages, model: model.id });
  return { words: split.words, files: text, images };
}

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

/** Undefined for a new session without anything said of it: the code that finds others is loaded only then. */
async function chooseSession(args: RootFlags, { io, env, cwd }: CliContext): Promise<ChosenSession | undefined> {
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
