// A small agent whose first argument says how it behaves: well, or in one of the ways in which programs go wrong. It answers `get_state`, and on
// `prompt` runs; what it does there is in `behaviours`.
import { spawn } from "node:child_process";
import { readSync, writeSync } from "node:fs";

type Command = { readonly id?: string; readonly type: string } & Readonly<Record<string, unknown>>;

const [behaviour = "", detail = ""] = process.argv.slice(2);

/** Everything is written before it goes on, as far as the reader reads. */
function write(bytes: string | Uint8Array): void {
  let rest: Uint8Array = typeof bytes === "string" ? new TextEncoder().encode(bytes) : bytes;
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(1, rest));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") process.exit(0);
    }
  }
}

const tell = (record: object) => write(`${JSON.stringify(record)}\n`);
const answer = ({ id, type: command }: Command, data?: unknown) =>
  tell({ id, type: "response", command, success: true, data });
const refuse = ({ id, type: command }: Command, error: string) =>
  tell({ id, type: "response", command, success: false, error });

const usage = {
  input: 10,
  output: 5,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 15,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0.5 },
};

function delta(text: string): object {
  return { type: "message_update", usage, assistantMessageEvent: { type: "text_delta", contentIndex: 0, delta: text } };
}

function message(text: string, more: object = {}): object {
  const content = [{ type: "text", text }];
  return {
    role: "assistant",
    content,
    api: "x",
    provider: "x",
    model: "x",
    usage,
    stopReason: "stop",
    timestamp: 1,
    ...more,
  };
}

/** A whole run that says `text`. */
function run(text: string, more: object = {}): void {
  tell({ type: "agent_start" });
  tell({ type: "message_end", message: { role: "user", content: "hi", timestamp: 1 } });
  tell(delta(text));
  tell({ type: "message_end", message: message(text, more) });
  tell({ type: "agent_settled", aborted: false });
}

const heard: string[] = [];
const started = (command: Command) => answer(command, { disposition: "started" });

/** What a behaviour does with a command; true when nothing else is to be done. */
type Behaviour = (command: Command) => boolean | undefined;

const behaviours: Readonly<Record<string, Behaviour>> = {
  /** Says back what it was told. */
  well: () => undefined,
  handled: (command) => {
    if (command.type !== "prompt") return undefined;
    answer(command, { disposition: "handled" });
    return true;
  },
  /** As pi did before it told what became of a message. */
  old: (command) => {
    if (command.type !== "prompt") return undefined;
    answer(command);
    tell({ type: "agent_start" });
    tell({ type: "message_end", message: message("old") });
    tell({ type: "agent_settled" });
    return true;
  },
  /** Still busy with the end of an earlier run when the next message comes. */
  late: (command) => {
    if (command.type !== "prompt") return undefined;
    tell({ type: "message_end", message: message("earlier") });
    tell({ type: "agent_settled", aborted: false });
    started(command);
    run("now");
    return true;
  },
  /** Dies in the middle of a run, its last words still in the pipe. */
  die: (command) => {
    if (command.type !== "prompt") return command.type !== "get_state";
    started(command);
    tell({ type: "agent_start" });
    // More than a reader takes in one go.
    for (let i = 0; i < 200; i++) tell(delta(`${i} ${"x".repeat(500)}`));
    writeSync(2, "it is over\nkilled by itself\n");
    process.kill(process.pid, "SIGKILL");
    return true;
  },
  /** The same while what it has started holds its output open. */
  "die-held": (command) => {
    spawn("sleep", ["30"], { stdio: "inherit", detached: detail === "detached" });
    return behaviours.die?.(command);
  },
  exit: () => {
    process.exit(3);
  },
  /** Never answers. */
  hang: () => true,
  "hang-run": (command) => {
    if (command.type === "prompt") {
      started(command);
      tell({ type: "agent_start" });
    }
    if (command.type === "abort") {
      tell({ type: "agent_settled", aborted: true });
      answer(command);
    }
    return command.type === "prompt" || command.type === "abort";
  },
  /** Begins runs, and does not hear that they are to end; its next answer tells what it has heard. */
  "hang-abort": (command) => {
    heard.push(command.type);
    if (command.type === "prompt") {
      started(command);
      tell({ type: "agent_start" });
    } else if (command.type === "heard") answer(command, heard);
    return true;
  },
  garbage: (command) => {
    write(`${detail}\n`);
    answer(command, { text: "after" });
    return true;
  },
  /** A line without an end. */
  "long-line": () => {
    write("x".repeat(3_000_000));
    write("\n");
    return true;
  },
  "bad-utf8": () => {
    write(new Uint8Array([0x22, 0xc3, 0x28, 0x22, 0x0a]));
    return true;
  },
  /** Every byte by itself, in an answer that ends with CR LF, after which the last line has no end. */
  split: (command) => {
    const line = JSON.stringify({ id: command.id, type: "response", command: command.type, success: true, data: odd });
    for (const byte of new TextEncoder().encode(`${line}\r\n`)) write(new Uint8Array([byte]));
    return true;
  },
  unended: (command) => {
    write(JSON.stringify({ id: command.id, type: "response", command: command.type, success: true, data: odd }));
    process.exit(0);
  },
  /** Tells more and more, as long as somebody reads; answers what is asked meanwhile. */
  flood: (command) => {
    if (command.type !== "prompt") return undefined;
    started(command);
    tell({ type: "agent_start" });
    flood();
    return true;
  },
  stubborn: (command) => {
    process.on("SIGTERM", () => writeSync(2, "I stay\n"));
    setInterval(() => {}, 1000);
    return command.type !== "get_state";
  },
  asks: (command) => {
    if (command.type === "prompt") {
      started(command);
      tell({ type: "agent_start" });
      tell({ type: "extension_ui_request", id: "q1", ...JSON.parse(detail) });
    }
    if (command.type === "extension_ui_response") {
      const { type: _, ...said } = command;
      tell({ type: "message_end", message: message(JSON.stringify(said)) });
      tell({ type: "agent_settled", aborted: false });
    }
    return command.type !== "get_state";
  },
  bash: (command) => {
    if (command.type === "bash") {
      for (const text of ["one\n", "two\n"]) tell({ type: "bash_execution_update", id: command.id, delta: text });
      if (command.command === "wait") return true;
      answer(command, { output: "one\ntwo\n", exitCode: 0, cancelled: false, truncated: false });
    }
    if (command.type === "abort_bash") {
      writeSync(2, "bash was ended\n");
      answer(command);
    }
    return command.type === "bash" || command.type === "abort_bash";
  },
  refuses: (command) => {
    refuse(command, "not now");
    return true;
  },
  /** Ends a run the way `detail` says. */
  ends: (command) => {
    if (command.type !== "prompt") return undefined;
    started(command);
    const { settled, ...more } = JSON.parse(detail);
    tell({ type: "agent_start" });
    tell({ type: "message_end", message: message("half", more) });
    tell({ type: "agent_settled", aborted: false, ...settled });
    return true;
  },
  /** Says `detail` in the middle of a run. */
  says: (command) => {
    if (command.type !== "prompt") return undefined;
    started(command);
    tell({ type: "agent_start" });
    write(`${detail}\n`);
    run("after");
    return true;
  },
  /** Tells what is not known yet. */
  newer: (command) => {
    if (command.type !== "prompt") return undefined;
    started(command);
    tell({ type: "agent_start" });
    tell({ type: "dream", of: "sheep" });
    tell({ type: "message_end", message: message("", { content: [{ type: "smell", of: "roses" }] }) });
    tell({ type: "agent_settled", aborted: false });
    return true;
  },
  /** Cannot be written to, but does not end. */
  deaf: () => {
    throw new Error("unreachable: it reads nothing");
  },
};

const odd = { text: "\u2028 é € 😀 \u2029 \u0085" };

function flood(): void {
  for (let i = 0; i < 50; i++) tell(delta("x".repeat(1000)));
  setImmediate(flood);
}

function take(line: string): void {
  const command = JSON.parse(line) as Command;
  if (behaviours[behaviour]?.(command) || command.type === "ignored") return;
  if (command.type === "prompt") {
    started(command);
    run(String(command.message));
  } else if (command.type === "get_state") answer(command, { messageCount: 1, pid: process.pid, argv: process.argv });
  else if (command.type === "get_messages") answer(command, detail === "" ? undefined : JSON.parse(detail));
  else if (command.type === "levitate") answer(command, { height: command.height });
  else refuse(command, `Unknown command: ${command.type}`);
}

if (behaviour === "once") {
  // JSON mode: the task is on stdin.
  let task = "";
  const buffer = Buffer.alloc(65_536);
  for (let size = readSync(0, buffer); size > 0; size = readSync(0, buffer)) task += buffer.toString("utf8", 0, size);
  if (detail === "usage") {
    writeSync(2, "error: no such flag\n");
    process.exit(2);
  }
  tell({ type: "session", version: 3, id: "s1", timestamp: "2026-01-01T00:00:00.000Z", cwd: "/" });
  if (detail === "hang") setInterval(() => {}, 1000);
  else {
    run(
      `${task.length} ${process.argv.slice(4).join(" ")}`,
      detail === "fails" ? { stopReason: "error", errorMessage: "no luck" } : {},
    );
    process.exitCode = detail === "fails" ? 1 : 0;
  }
} else if (behaviour === "deaf") {
  const { closeSync } = await import("node:fs");
  closeSync(0);
  setInterval(() => {}, 1000);
} else {
  let rest = "";
  process.stdin.setEncoding("utf8");
  process.stdin.on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) take(line);
  });
}
