// Drives the compiled binary in RPC mode: sends commands, waits for answers and events, and checks every line of stdout against its schema.
import { expect } from "bun:test";
import { closeSync } from "node:fs";
import * as z from "zod/mini";
import { AgentEvent } from "../../src/protocol/event.ts";
import {
  BashExecutionUpdate,
  type RpcCommandName,
  RpcResponse,
  type RpcResult,
  rpcCommands,
} from "../../src/protocol/rpc.ts";
import { UiDialog } from "../../src/protocol/ui.ts";
import { openFifo } from "./open-fifo.ts";
import { type ReplayServer, type Script, startReplayServer } from "./replay-server.ts";
import { binaryPath, cleanEnv, createPlace } from "./run-cli.ts";
import type { TmpDir } from "./tmp.ts";

export type RpcRecord = { readonly type: string } & Readonly<Record<string, unknown>>;

export interface RpcClientOptions {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
  readonly home?: string;
  /** Stdout is read only after `read` was called. */
  readonly unread?: boolean;
}

export interface RpcClient extends AsyncDisposable {
  readonly pid: number;
  readonly home: string;
  readonly cwd: string;
  /** All so far, in order. */
  readonly records: readonly RpcRecord[];
  /** What was wrong with a line of stdout; tests expect it to be empty. */
  readonly problems: readonly string[];
  stderr(): string;
  /** Writes a line as it is. */
  write(line: string | Uint8Array): void;
  writeRaw(bytes: Uint8Array): void;
  /** Writes a command with an id of its own and gives its answer. */
  send(command: Record<string, unknown>): Promise<RpcResponse>;
  /** The same for one that must succeed: the answer's data. */
  ask<Name extends RpcCommandName>(type: Name, params?: Record<string, unknown>): Promise<RpcResult<Name>>;
  /** The first record that fits, at or after the position `from`. */
  wait(fits: string | ((record: RpcRecord) => boolean), from?: number): Promise<RpcRecord>;
  /** Prompts and waits until the run is over; gives its events. */
  prompt(message: string, params?: Record<string, unknown>): Promise<RpcRecord[]>;
  /** Begins to read stdout. */
  read(): void;
  end(): void;
  kill(signal?: NodeJS.Signals): void;
  /** The exit code, when all of stdout was read. */
  readonly exited: Promise<number>;
}

const AnyRecord = z.union([RpcResponse, AgentEvent, BashExecutionUpdate, UiDialog]);
const deadlineMs = 15_000;

export function startRpc(args: readonly string[] = [], options: RpcClientOptions = {}): RpcClient {
  const place = createPlace(options);
  const unread = options.unread ? openUnread(place.dir) : undefined;
  const child = Bun.spawn([binaryPath(), "--mode", "rpc", ...args], {
    cwd: place.cwd,
    env: cleanEnv(place.home, options.env),
    stdin: "pipe",
    stdout: unread?.fd ?? "pipe",
    stderr: "pipe",
  });
  unread?.started();
  const records: RpcRecord[] = [];
  const problems: string[] = [];
  const waiting = new Set<() => void>();
  let err = "";
  let ended = false;
  let lastId = 0;

  function take(line: string): void {
    try {
      const record = JSON.parse(line) as RpcRecord;
      const problem = problemOf(record);
      if (problem !== undefined) problems.push(`${line.slice(0, 300)}: ${problem}`);
      records.push(record);
    } catch {
      problems.push(`not JSON: ${line.slice(0, 300)}`);
    }
  }

  const started = Promise.withResolvers<void>();

  async function readOut(): Promise<void> {
    if (unread) await started.promise;
    const decoder = new TextDecoder();
    let rest: string[] = [];
    const stream = unread ? unread.read() : (child.stdout as ReadableStream<Uint8Array>);
    for await (const bytes of stream) {
      const [first = "", ...others] = decoder.decode(bytes, { stream: true }).split("\n");
      rest.push(first);
      for (const part of others) {
        take(rest.join(""));
        rest = [part];
      }
      for (const check of [...waiting]) check();
    }
    const last = rest.join("");
    if (last !== "") problems.push(`a last line without an end: ${last.slice(0, 300)}`);
    ended = true;
    for (const check of [...waiting]) check();
  }

  async function readErr(): Promise<void> {
    for await (const bytes of child.stderr) err += new TextDecoder().decode(bytes);
  }

  const reading = Promise.all([readOut(), readErr()]);

  function wait(fits: string | ((record: RpcRecord) => boolean), from = 0): Promise<RpcRecord> {
    const matches = typeof fits === "string" ? (record: RpcRecord) => record.type === fits : fits;
    const { promise, resolve, reject } = Promise.withResolvers<RpcRecord>();
    let next = from;
    const fail = (why: string) =>
      reject(
        new Error(
          `${why} waiting for ${String(fits)}; the last records:\n${records
            .slice(-15)
            .map((record) => JSON.stringify(record).slice(0, 400))
            .join("\n")}\n--- stderr\n${err}`,
        ),
      );
    const check = () => {
      for (; next < records.length; next++) {
        const record = records[next] as RpcRecord;
        if (matches(record)) return resolve(record);
      }
      if (ended) fail("it ended while");
    };
    const timer = setTimeout(() => fail(`${deadlineMs} ms passed`), deadlineMs);
    waiting.add(check);
    check();
    return promise.finally(() => {
      clearTimeout(timer);
      waiting.delete(check);
    });
  }

  function write(line: string | Uint8Array): void {
    child.stdin.write(line);
    child.stdin.write("\n");
    child.stdin.flush();
  }

  async function send(command: Record<string, unknown>): Promise<RpcResponse> {
    const id = command.id ?? `t${++lastId}`;
    const from = records.length;
    write(JSON.stringify({ id, ...command }));
    return (await wait((record) => record.type === "response" && record.id === id, from)) as RpcResponse;
  }

  async function ask<Name extends RpcCommandName>(type: Name, params = {}): Promise<RpcResult<Name>> {
    const answer = await send({ type, ...params });
    if (!answer.success) throw new Error(`${type} failed: ${answer.error}`);
    return answer.data as RpcResult<Name>;
  }

  return {
    pid: child.pid,
    home: place.home,
    cwd: place.cwd,
    records,
    problems,
    stderr: () => err,
    write,
    writeRaw(bytes) {
      child.stdin.write(bytes);
      child.stdin.flush();
    },
    send,
    ask,
    wait,
    async prompt(message, params = {}) {
      const from = records.length;
      await ask("prompt", { message, ...params });
      await wait("agent_settled", from);
      return records.slice(from).filter(({ type }) => type !== "response");
    },
    read: started.resolve,
    end: () => void child.stdin.end(),
    kill: (signal = "SIGTERM") => child.kill(signal),
    exited: (async () => {
      const code = await child.exited;
      await reading;
      return code;
    })(),
    async [Symbol.asyncDispose]() {
      started.resolve();
      child.kill("SIGKILL");
      await child.exited;
      await reading;
      await (place.dir as TmpDir)[Symbol.asyncDispose]();
    },
  };
}

/** A client of a binary that asks the script; at its end nothing may have been wrong on either side. */
export async function connect(
  script: Script,
  options: RpcClientOptions = {},
  args: readonly string[] = ["--yolo"],
): Promise<{ readonly rpc: RpcClient; readonly server: ReplayServer } & AsyncDisposable> {
  const server = await startReplayServer(script);
  const key = { PI_PROVIDER: "openai", OPENAI_API_KEY: "sk-test-0123456789abcdef", PI_BASE_URL: server.url };
  const rpc = startRpc(args, { ...options, env: { ...key, ...options.env } });
  return {
    server,
    rpc,
    async [Symbol.asyncDispose]() {
      await rpc[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
      expect(rpc.problems).toEqual([]);
      expect(server.problems).toEqual([]);
    },
  };
}

/** A pipe that nobody reads until `read` is called; the runtime itself reads those that it makes. */
function openUnread(dir: TmpDir) {
  const { reader, writer } = openFifo(dir.file("stdout"));
  return {
    fd: writer,
    started: () => closeSync(writer),
    read() {
      const cat = Bun.spawn(["cat"], { stdin: reader, stdout: "pipe" });
      closeSync(reader);
      return cat.stdout;
    },
  };
}

/** What is wrong with a record, its data included. */
function problemOf(record: RpcRecord): string | undefined {
  const parsed = AnyRecord.safeParse(record);
  if (!parsed.success) return JSON.stringify(parsed.error.issues).slice(0, 1000);
  const { command, success, data } = record as { command?: string; success?: boolean; data?: unknown };
  if (record.type !== "response" || !success) return undefined;
  if (!Object.hasOwn(rpcCommands, command ?? "")) return `there is no command ${command}`;
  const result = rpcCommands[command as RpcCommandName].result.safeParse(data);
  return result.success ? undefined : JSON.stringify(result.error.issues).slice(0, 1000);
}
