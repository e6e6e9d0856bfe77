// The REPL: reads a line, runs it as a prompt or a slash command, and reads the next, until the user or a signal ends it.
import type { App, AppOptions } from "../../app/app.ts";
import { completeCommand, runCommand } from "../../commands/index.ts";
import { AppError, describeError } from "../../util/error.ts";
import { redact } from "../../util/redact.ts";
import { visible, visibleLine } from "../../util/sanitize.ts";
import { version } from "../../util/version.ts";
import type { Io } from "../io.ts";
import { cutToWidth } from "../layout.ts";
import { promptTask, type Task } from "../one-shot.ts";
import { describeSession } from "../show.ts";
import { watchSignals } from "../signals.ts";
import { createStyle, wantsColour } from "../style.ts";
import { createReplAsk } from "./ask.ts";
import { loadHistory } from "./history.ts";
import { createKeyboard } from "./keyboard.ts";
import { createLineReader } from "./line-reader.ts";
import { renderMarkdown } from "./markdown.ts";
import { createReplPick } from "./pick.ts";
import { recapOf } from "./recap.ts";
import { createScreen } from "./screen.ts";
import { createStatus } from "./status.ts";
import { openTerminal } from "./terminal.ts";
import { createTranscript } from "./transcript.ts";

/** What the app asks of its mode. */
export type ReplHooks = Pick<AppOptions, "ask" | "onBug" | "notify">;

export interface ReplOptions {
  /** Run at once, as if it had been typed the way it is `shown`; "" for none. */
  readonly firstTask: Task & { readonly shown: string };
  readonly env: AppOptions["env"];
  readonly cwd: string;
}

/** Errors that end work which stands all the same, as far as it came: the user goes on instead of sending the input again. */
const answeredErrors = new Set(["turn_limit", "tool_call_limit", "cost_limit", "time_limit", "output_limit"]);
const prompt = "> ";
/** More characters than a row has. */
const longestTyped = 1000;

/** Gives the exit code: 0 when the user leaves, 128 + its number after a signal. Rejects with what crashed it. */
export async function runRepl(makeApp: (hooks: ReplHooks) => App, options: ReplOptions, io: Io): Promise<number> {
  const style = createStyle(wantsColour(options.env));
  const label = style.bold(style.cyan(prompt));
  const app = makeApp({
    ask: (question, signal) => ask(question, signal),
    notify: (text) => transcript.notice(style.yellow(visible(redact(text)))),
    onBug,
  });
  const history = loadHistory(app.config.home);
  const keyboard = createKeyboard({
    onInterrupt: () => app.abort(),
    onStop: () => terminal.stop(),
    onType: () => status.type(),
  });
  // Before the terminal is taken over, so that there is no moment in which a signal could leave it behind.
  const signals = watchSignals(io, leave, ["SIGTERM", "SIGHUP"]);
  const crashes = watchCrashes();
  const onSigint = () => keyboard.feed("\x03");
  process.on("SIGINT", onSigint);
  const terminal = openTerminal(
    {
      input: keyboard.feed,
      end: leave,
      resize: () => reader.resize(),
      stop() {
        screen.hideStatus();
        screen.freshLine();
        reader.stop();
      },
      continue() {
        screen.forgetPosition();
        reader.continue();
      },
    },
    options.env.TERM === "dumb",
  );
  const screen = createScreen(terminal);
  const reader = createLineReader(terminal, screen, keyboard);
  const status = createStatus(screen, style, {
    enabled: options.env.TERM !== "dumb",
    // Of a long paste only the end can be seen.
    typed: () => visibleLine(keyboard.waiting().join("\n").slice(-longestTyped)),
  });
  const markdown = app.config.markdown && wantsColour(options.env);
  const transcript = createTranscript(screen, style, { markdown, askedMs: status.askedMs });
  const ask = createReplAsk({
    reader,
    screen,
    status,
    transcript,
    style,
    takeTyped: terminal.takeTyped,
    abort: app.abort,
  });
  const pick = createReplPick({ reader, screen, transcript, style });
  let left = false;
  let historyFailed = false;

  function leave(): void {
    left = true;
    app.abort();
    reader.cancel();
  }

  function onBug(error: unknown): void {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    transcript.notice(`${style.red("error:")} A tool failed in a way it should not: ${visible(redact(text))}`);
  }

  function modelName(): string {
    const { provider, model } = app.config;
    return `${provider.name}/${model.id}`;
  }

  function greet(): void {
    const hint = "  /help for commands";
    screen.print(`${style.bold(`pi-ts ${version}`)}  ${visibleLine(modelName())}\n`);
    screen.print(style.dim(`${cutToWidth(visibleLine(options.cwd), terminal.columns - hint.length)}${hint}\n`));
  }

  /** Where a conversation that goes on had come to. */
  function recap(): void {
    const look = (text: string) => (markdown ? renderMarkdown(text, screen.columns, style) : text);
    const text = recapOf(app.messages(), style, look);
    if (text !== undefined) transcript.print(text);
  }

  function remember(text: string): void {
    try {
      history.add(text);
    } catch (error) {
      if (!historyFailed)
        transcript.notice(style.yellow(`The input history is not kept: ${visible((error as Error).message)}`));
      historyFailed = true;
    }
  }

  /** Runs one input; the result is what the next edit line begins with. */
  async function submit(text: string, task: Task = { text }): Promise<string> {
    remember(text);
    const result = task.files || task.images ? undefined : await runCommand(text, app, { pick });
    if (!result) return runPrompt(text, task);
    if (result.text !== undefined) transcript.notice(visible(result.text));
    if (result.recap) recap();
    if (result.exit) left = true;
    return result.input ?? "";
  }

  async function runPrompt(text: string, task: Task): Promise<string> {
    status.start(modelName(), app.startingServers().length > 0);
    // What cannot be stored is not said, and no reason to leave.
    const { status: end, error, answered } = await promptTask(app, task).catch(notStored);
    status.stop();
    if (end === "done") return "";
    if (end === "aborted") transcript.notice(style.yellow("interrupted"));
    else if (error) transcript.notice(`${style.red("error:")} ${visible(redact(describeError(error)))}`);
    const typed = keyboard.defuse();
    const stands = answeredErrors.has(error?.code ?? "") || end === "aborted" ? answered : false;
    return stands ? "" : `${text}${typed ? "\n" : ""}`;
  }

  async function run(): Promise<void> {
    greet();
    recap();
    // For completion; the prompt does not wait for them.
    let others: readonly string[] = [];
    void app.commands().then((found) => {
      others = found.map(({ name }) => name);
    });
    let next = "";
    const { shown, ...task } = options.firstTask;
    if (shown.trim() !== "") {
      transcript.beginInput();
      screen.print(`${label}${visible(shown).replaceAll("\n", `\n${" ".repeat(prompt.length)}`)}\n`);
      next = await submit(shown, task);
    }
    while (!left) {
      transcript.beginInput();
      const { entries } = history;
      const reading = await reader.read({
        label,
        initial: next,
        history: entries,
        complete: (head) => completeCommand(head, others),
        typeAhead: true,
      });
      next = "";
      if (reading.type === "end") return;
      const text = reading.text.trimEnd();
      // A first task that failed and is sent again takes its files along again.
      if (reading.type === "line" && text !== "") next = await submit(text, text === shown ? task : undefined);
      else if (reading.type === "interrupt" && text === "") transcript.notice(style.dim("Ctrl-D or /exit leaves"));
    }
  }

  const unsubscribe = app.subscribe((event) => {
    transcript.follow(event);
    status.follow(event);
  });
  try {
    await Promise.race([run(), crashes.crashed]);
    if (app.session().stored()) transcript.print(style.dim(describeSession(app)));
    return signals.exitCode() ?? 0;
  } finally {
    status.stop();
    reader.cancel();
    terminal.close();
    app.close();
    process.off("SIGINT", onSigint);
    crashes.stop();
    signals.stop();
    unsubscribe();
  }
}

/** The outcome of a prompt that could not be written to its session; any other failure is one of ours. */
function notStored(thrown: unknown) {
  if (!(thrown instanceof AppError)) throw thrown;
  return { status: "error", error: thrown, answered: false } as const;
}

/** What nobody caught ends the REPL in order, with the terminal given back. */
function watchCrashes(): { readonly crashed: Promise<never>; stop(): void } {
  const { promise, reject } = Promise.withResolvers<never>();
  process.on("uncaughtException", reject);
  process.on("unhandledRejection", reject);
  return {
    crashed: promise,
    stop() {
      process.off("uncaughtException", reject);
      process.off("unhandledRejection", reject);
    },
  };
}
