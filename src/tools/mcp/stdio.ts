// A server as a child process: one JSON-RPC message a line on its stdin and stdout (MCP specification, "stdio"). It runs in a process group of
// its own; what it prints that is no message is passed over.
import { closeSync, existsSync } from "node:fs";
import type { JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js";
import { now } from "../../util/clock.ts";
import type { Environment } from "../../util/environment.ts";
import { createLineSplitter, type Line } from "../../util/jsonl.ts";
import type { McpStdio } from "../../util/mcp-server.ts";
import { createPipe, type Pace, type Reading, readPipe } from "../../util/pipe.ts";
import {
  type Exit,
  endGroup,
  followEscapees,
  type GroupChild,
  guardGroups,
  spawnGroup,
} from "../../util/process-group.ts";
import type { ServerLog } from "./server-log.ts";
import type { ServerTransport } from "./transport.ts";

/** A message longer than this, or so much without a message in it, ends the connection: it might go on for ever. */
const maxLine = 64 * 1024 * 1024;
/** So much is cut into lines at a time, of which there may be very many. */
const pieceBytes = 64 * 1024;
/** How long lines are dealt with before everything else has its turn, and how long that turn is. */
const sliceMs = 10;
/** From the end of its input to SIGTERM, and from there to SIGKILL. */
const inputEndMs = 700;
const killGraceMs = 500;
/** How long what it printed at last is read after its end. */
const drainMs = 500;
/** How long a server may live that has closed its input. */
const deafMs = 1000;
/** An answer is seen at most a fifth later than it came, and a quarter of a second. */
const pace: Pace = { firstMs: 1, growth: 1.2, longestMs: 250 };

export interface StdioOptions {
  readonly server: McpStdio;
  /** The working directory where the server names none. */
  readonly cwd: string;
  /** What every child gets. */
  readonly env: Environment;
  readonly log: ServerLog;
  /** Told once of the first line that is no message. */
  readonly onNoise: (line: string) => void;
}

/** Starts the server. Throws an `Error` in words when that is not possible. */
export async function startStdio({ server, cwd, env, log, onNoise }: StdioOptions): Promise<ServerTransport> {
  const [output, errors] = await Promise.all([createPipe(), createPipe(), followEscapees()]);
  let child: GroupChild;
  try {
    // A server that does not look at the end of its input would outlive a program that is killed.
    guardGroups();
    child = spawnGroup([server.command, ...server.args], {
      cwd: server.cwd ?? cwd,
      env: { ...env, ...server.env },
      output: output?.writeFd ?? "pipe",
      errors: errors?.writeFd ?? "pipe",
      takesInput: true,
    });
  } catch (error) {
    for (const pipe of [output, errors]) if (pipe) for (const fd of [pipe.readFd, pipe.writeFd]) closeSync(fd);
    throw startFailure(error, server, cwd);
  }
  for (const pipe of [output, errors]) if (pipe) closeSync(pipe.writeFd);
  log.begin(child.pid);
  const splitter = createLineSplitter(maxLine);
  const decoder = new TextDecoder();
  /** What came before anybody listened. */
  const early: JSONRPCMessage[] = [];
  let reason: string | undefined;
  let isNoisy = false;
  /** Bytes since the last message. */
  let idleBytes = 0;
  let restedAt = now();
  let isOver = false;
  const over = Promise.withResolvers<void>();
  let closing: Promise<void> | undefined;
  const readings: Reading[] = [];

  const transport: ServerTransport = {
    async start() {
      for (const message of early.splice(0)) transport.onmessage?.(message);
      if (isOver) queueMicrotask(() => transport.onclose?.());
    },
    async send(message) {
      if (isOver || !child.stdin) throw new Error("The server has ended");
      try {
        child.stdin.write(`${JSON.stringify(message)}\n`);
        await child.stdin.flush();
        hurry();
      } catch (error) {
        // How it ended, and what it said, tells more than a broken pipe.
        await Promise.race([over.promise, Bun.sleep(deafMs)]);
        if (!isOver) {
          reason ??= "it closed its input";
          await transport.close();
        }
        throw error;
      }
    },
    close() {
      closing ??= end();
      return closing;
    },
    reason: () => reason,
    lastWords: log.tail,
  };

  function take(line: Line): void {
    if ("tooLong" in line) return;
    const text = decoder.decode(line.bytes);
    if (text.trim() === "") return;
    const messages = parseMessages(text);
    if (messages.length === 0) {
      log.note(`stdout: ${text}`);
      if (!isNoisy) onNoise(text);
      isNoisy = true;
    }
    if (messages.length > 0) idleBytes = 0;
    for (const message of messages) {
      if (transport.onmessage) transport.onmessage(message);
      else early.push(message);
    }
  }

  /** The library looks at notifications a little later than at answers, so that one in front of an answer would be lost without a pause. */
  async function takeAll(lines: readonly Line[]): Promise<void> {
    for (const line of lines) {
      take(line);
      if (now() - restedAt < sliceMs) await Promise.resolve();
      else {
        await Bun.sleep(sliceMs);
        restedAt = now();
      }
    }
  }

  function hurry(): void {
    for (const reading of readings) reading.hurry();
  }

  /** False when the server has printed too much that is no message. */
  async function takeBytes(bytes: Uint8Array): Promise<boolean> {
    idleBytes += bytes.length;
    for (let at = 0; at < bytes.length; at += pieceBytes)
      await takeAll(splitter.push(bytes.subarray(at, at + pieceBytes)));
    if (idleBytes > maxLine) {
      reason ??= `it printed more than ${maxLine / 1024 / 1024} MB without the end of a message`;
      return false;
    }
    await new Promise(setImmediate);
    restedAt = now();
    return true;
  }

  /**
   * A server that never stops to print must not keep us from everything else, nor fill the memory. The runtime's own streams read on as long as
   * there is something to read, so they are only for systems without such pipes.
   */
  async function readOutput(): Promise<void> {
    try {
      await (output ? readOwnPipe(output.readFd) : readStdout());
      await takeAll(splitter.end());
    } catch {
      // What cannot be read any more has ended.
    }
  }

  async function readOwnPipe(fd: number): Promise<void> {
    const full = Promise.withResolvers<void>();
    let taking: Promise<void> | undefined;
    function take(bytes: Uint8Array): void {
      const kept = bytes.slice();
      const taken = (taking ?? Promise.resolve()).then(async () => {
        if (!(await takeBytes(kept))) full.resolve();
        if (taking === taken) taking = undefined;
      });
      taking = taken;
    }
    const reading = readPipe(fd, take, () => taking, pace);
    readings.push(reading);
    await Promise.race([reading.ended, full.promise]);
    reading.discard();
    await taking;
  }

  async function readStdout(): Promise<void> {
    for await (const bytes of child.stdout ?? []) {
      if (!(await takeBytes(bytes))) return;
    }
  }

  async function readErrors(): Promise<void> {
    try {
      if (errors) {
        const reading = readPipe(errors.readFd, log.write, undefined, pace);
        readings.push(reading);
        return await reading.ended;
      }
      for await (const bytes of child.stderr ?? []) {
        log.write(bytes);
        await new Promise(setImmediate);
      }
    } catch {
      // The same.
    }
  }

  /** The process ended, or its output did: either way there will be no answer any more. */
  async function watch(): Promise<void> {
    const outputRead = readOutput();
    const errorsRead = readErrors();
    await Promise.race([child.exited, outputRead]);
    hurry();
    const exit = await Promise.race([child.exited, Bun.sleep(drainMs)]);
    await Promise.race([Promise.all([outputRead, errorsRead]), Bun.sleep(drainMs)]);
    if (!closing) reason ??= exit ? describeExit(exit) : "it closed its output";
    finish();
    await transport.close();
  }

  function finish(): void {
    if (isOver) return;
    isOver = true;
    transport.onclose?.();
    over.resolve();
  }

  async function end(): Promise<void> {
    try {
      await child.stdin?.end();
    } catch {
      // It does not read any more.
    }
    await Promise.race([child.exited, Bun.sleep(inputEndMs)]);
    await endGroup(child.pid, killGraceMs);
    await Promise.race([child.exited, Bun.sleep(drainMs)]);
    finish();
    log.close();
  }

  void watch();
  return transport;
}

/** The messages of a line: one, or a list of them; none when it is no JSON-RPC 2.0. */
function parseMessages(line: string): JSONRPCMessage[] {
  // Most of what is none is seen at once, and much faster.
  if (!/^\s*[{[]/.test(line)) return [];
  try {
    const value: unknown = JSON.parse(line);
    const all = Array.isArray(value) ? value : [value];
    return all.every(isMessage) ? all : [];
  } catch {
    return [];
  }
}

function isMessage(value: unknown): value is JSONRPCMessage {
  if (typeof value !== "object" || value === null) return false;
  return "jsonrpc" in value && value.jsonrpc === "2.0" && ("method" in value || "result" in value || "error" in value);
}

function describeExit({ code, signal }: Exit): string {
  return signal === undefined ? `it ended with exit code ${code}` : `it was killed by ${signal}`;
}

function startFailure(error: unknown, { command, cwd: own }: McpStdio, cwd: string): Error {
  const folder = own ?? cwd;
  const { code, message } = error as NodeJS.ErrnoException;
  if (!existsSync(folder)) return new Error(`its working directory does not exist: ${folder}`);
  if (code === "ENOENT") {
    const where = command.includes("/") ? "does not exist" : "is not in the PATH";
    return new Error(`the command ${command} ${where}`);
  }
  if (code === "EACCES") return new Error(`the command ${command} may not be run`);
  return new Error(`the command ${command} cannot be started: ${message}`);
}
