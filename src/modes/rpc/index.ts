// RPC mode: commands on stdin, answers and events on stdout. Reading never waits for work: a command that takes long is answered when it is
// done, and those behind it are dealt with meanwhile.
import type { App } from "../../app/app.ts";
import type { CommandId, RpcCommandName, RpcResult } from "../../protocol/rpc.ts";
import { AppError, describeError, toAppError } from "../../util/error.ts";
import { createLineSplitter, type Line } from "../../util/jsonl.ts";
import { log } from "../../util/log.ts";
import { guardGroups } from "../../util/process-group.ts";
import { redact } from "../../util/redact.ts";
import type { Io } from "../io.ts";
import type { RecordOutput } from "../records.ts";
import { leave, watchSignals } from "../signals.ts";
import type { Approvals } from "./approvals.ts";
import { type Call, type Handler, handlers, lastingCommands, type Prompt } from "./handlers.ts";
import { type ParsedCommand, parseLine } from "./parse-command.ts";
import { toFailure, toSuccess } from "./response.ts";

export interface RpcOptions {
  readonly app: App;
  readonly approvals: Approvals;
  readonly output: RecordOutput;
  readonly input: ReadableStream<Uint8Array>;
}

/** A line longer than this is refused. */
const maxLine = 64 * 1024 * 1024;
const longestError = 1000;
/** With so many records that its client has not read, no further command is read. */
const maxUnread = 4096;

type AnyCommand = { [Name in RpcCommandName]: ParsedCommand<Name> }[RpcCommandName];

/**
 * Serves until stdin ends or a signal comes; gives the exit code, which is that of the last prompt or of the signal. What runs is finished
 * all the same, but for commands of the client's after a signal: they have no time limit, and nobody is there to end them. SIGINT aborts.
 */
export async function runRpc({ app, approvals, output, input }: RpcOptions, io: Io): Promise<number> {
  let exitCode = 0;
  const stopped = Promise.withResolvers<void>();
  const signals = watchSignals(io, (name) => {
    stopped.resolve();
    approvals.close();
    for (const { id, name: command } of lane.splice(0))
      output.write(toFailure({ id, command }, "A signal ends the program"));
    if (name === "SIGINT") void app.abort();
    else {
      app.abortBash();
      // Whoever waits less long than the prompt takes ends us by SIGKILL.
      guardGroups();
    }
  });
  /** Commands in the order they came; one begins when those before it have begun. */
  const lane: AnyCommand[] = [];
  let busy = false;
  let isAsked = false;
  const unanswered = new Set<Promise<void>>();

  function start(prompt: Prompt | undefined): void {
    const run = prompt ? app.prompt(prompt.text, prompt.images) : app.promptQueue();
    const ended = run.then(
      ({ error, status }) => {
        exitCode = status === "error" ? (error?.exitCode ?? 1) : 0;
      },
      (thrown) => {
        const error = toAppError(thrown);
        exitCode = error.exitCode;
        log().error(redact(describeError(error)));
      },
    );
    track(ended);
  }

  function track(work: Promise<void>): void {
    const done = work.finally(() => unanswered.delete(done));
    unanswered.add(done);
  }

  function fail(id: CommandId | undefined, command: string, thrown: unknown): void {
    const isExpected = thrown instanceof AppError;
    if (!isExpected) log().error(redact(thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown)));
    const error = isExpected ? thrown.message : `Failed in a way it should not: ${thrown}`;
    output.write(toFailure({ id, command }, redact(cut(error))));
  }

  /** Runs a command. The promise is that of its answer, where that is still to come. */
  function begin<Name extends RpcCommandName>({ name, id, params }: ParsedCommand<Name>): Promise<void> | undefined {
    const actions: (() => void)[] = [];
    const hold = () => (output.isBehind() ? output.ready() : undefined);
    const call: Call = { app, id, start, hold, write: output.write, after: (action) => void actions.push(action) };
    function succeed(data: RpcResult<Name>): void {
      const answer = toSuccess({ id, command: name }, data);
      if (typeof answer === "string") output.writeLine(answer);
      else output.write(answer);
      for (const action of actions) action();
    }
    try {
      const handler = handlers[name] as unknown as Handler<Name>;
      const result = handler(params, call) as RpcResult<Name> | Promise<RpcResult<Name>>;
      if (result instanceof Promise) return result.then(succeed).catch((thrown) => fail(id, name, thrown));
      succeed(result);
    } catch (thrown) {
      fail(id, name, thrown);
    }
    return undefined;
  }

  function proceed(): void {
    while (!busy) {
      const command = lane.shift();
      if (!command) return;
      const answered = begin(command);
      if (!answered) continue;
      track(answered);
      if (lastingCommands.has(command.name)) continue;
      busy = true;
      void answered.then(() => {
        busy = false;
        proceed();
      });
    }
  }

  function take(line: Line): void {
    isAsked = true;
    if ("tooLong" in line) {
      const error = `The line is too long: ${line.tooLong} bytes, of which ${maxLine} are possible`;
      output.write(toFailure({ id: undefined, command: "parse" }, error));
      return;
    }
    const parsed = parseLine(line.bytes);
    if (parsed.kind === "error") output.write(toFailure(parsed, parsed.error));
    else if (parsed.kind === "answer") approvals.answer(parsed.answer);
    else if (parsed.kind === "command") {
      lane.push(parsed);
      proceed();
    }
  }

  async function read(): Promise<void> {
    const reader = input.getReader();
    const splitter = createLineSplitter(maxLine);
    // Ends the read that waits. A race of each with the stop would keep all that was ever read, for as long as that does not come.
    void stopped.promise.then(() => reader.cancel()).catch(() => {});
    for (;;) {
      const next = await reader.read();
      if (signals.exitCode() !== undefined) return;
      for (const line of next.done ? splitter.end() : splitter.push(next.value)) take(line);
      if (next.done) return;
      if (output.backlog() > maxUnread) await Promise.race([output.ready(), stopped.promise]);
    }
  }

  async function finish(): Promise<void> {
    while (unanswered.size > 0) await Promise.all(unanswered);
    await app.idle();
  }

  const unsubscribe = app.subscribe(output.write);
  try {
    await read();
  } catch (error) {
    isAsked = true;
    exitCode = 1;
    log().error(`stdin cannot be read: ${(error as Error).message}`);
  }
  if (!isAsked && signals.exitCode() === undefined) log().info("stdin ended before any command came");
  // Nobody can answer any more; what runs is finished all the same.
  approvals.close();
  const isWritten = await output.drain(stopped.promise, finish());
  unsubscribe();
  signals.stop();
  app.close();
  const code = signals.exitCode() ?? exitCode;
  return isWritten ? code : leave(io, code);
}

/** What was wrong can be as long as a line. */
function cut(error: string): string {
  return error.length > longestError ? `${error.slice(0, longestError)}…` : error;
}
