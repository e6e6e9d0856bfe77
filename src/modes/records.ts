// Records on stdout, one JSON object a line, for a reader that may be slow: while it does not read, what can be told in one record instead
// of many is, and whoever makes more of them is asked to wait.
import { toJson } from "../protocol/to-json.ts";
import { stdoutFailure } from "../util/stdout.ts";
import type { Io } from "./io.ts";

export interface Outgoing {
  readonly type: string;
}

export interface RecordOutput {
  /** Queues a record, which must not change any more. Never waits. */
  write(record: Outgoing): void;
  /** The same for one that is a line of JSON already. */
  writeLine(line: string): void;
  /** How many records wait for the reader. */
  backlog(): number;
  /** Whether they are so many that further ones should wait. */
  isBehind(): boolean;
  /** Resolves when it is not behind. */
  ready(): Promise<void>;
  /**
   * True when `work` has ended and no record waits any more, or nobody can read them; false when `hurry` has resolved and the reader then
   * takes nothing for a few seconds although records wait. Rejects with what `work` rejects with.
   */
  drain(hurry: Promise<unknown>, work?: Promise<unknown>): Promise<boolean>;
}

export interface RecordOutputOptions {
  /** Told once, when stdout cannot be written to any more, such as after the reader has gone away. */
  readonly onFailure: (error: NodeJS.ErrnoException) => void;
  readonly failure?: () => NodeJS.ErrnoException | undefined;
}

/** From so many waiting records on, or so many characters of commands' output in them, the reader is behind. */
const fewRecords = 256;
const muchOutput = 256 * 1024;
/** Characters of one write. */
const writeSize = 64 * 1024;
/** How long a reader that takes nothing is waited for when the program is to end. */
const patienceMs = 2000;

interface Waiting {
  record: Outgoing | string;
}

// What is known of the records that need a thought; everything else passes through.
interface Delta {
  readonly type: "message_update";
  readonly assistantMessageEvent: { readonly type: string; readonly contentIndex: number; readonly delta?: string };
}
interface ToolUpdate {
  readonly type: "tool_execution_update";
  readonly toolCallId: string;
}

export function createRecordOutput(io: Pick<Io, "stdout" | "flush">, options: RecordOutputOptions): RecordOutput {
  const failure = options.failure ?? stdoutFailure;
  let queue: Waiting[] = [];
  let head = 0;
  let waitingOutput = 0;
  let pumping = false;
  let failed = false;
  /** How many writes the reader has taken. */
  let taken = 0;
  /** What is said last of the running tool and of the answer, as long as it waits and no other event came behind it. */
  let toolUpdate: Waiting | undefined;
  let delta: Waiting | undefined;
  let whenReady = Promise.withResolvers<void>();
  let whenDrained = Promise.withResolvers<void>();

  const backlog = () => queue.length - head;
  const isBehind = () => !failed && (backlog() >= fewRecords || waitingOutput >= muchOutput);

  function enqueue(record: Outgoing | string): Waiting {
    const waiting = { record };
    queue.push(waiting);
    waitingOutput += outputOf(record);
    if (!pumping) void pump();
    return waiting;
  }

  async function pump(): Promise<void> {
    pumping = true;
    // Records that are written in one go travel together.
    await Promise.resolve();
    while (backlog() > 0 && !failed) {
      io.stdout(nextPiece());
      await io.flush();
      taken++;
      const error = failure();
      if (error) fail(error);
      if (!isBehind()) {
        whenReady.resolve();
        whenReady = Promise.withResolvers();
      }
    }
    pumping = false;
    whenDrained.resolve();
    whenDrained = Promise.withResolvers();
  }

  function fail(error: NodeJS.ErrnoException): void {
    failed = true;
    queue = [];
    head = 0;
    options.onFailure(error);
  }

  function nextPiece(): string {
    let text = "";
    while (backlog() > 0 && text.length < writeSize) {
      const { record } = queue[head++] as Waiting;
      waitingOutput -= outputOf(record);
      text += typeof record === "string" ? `${record}\n` : `${toJson(record)}\n`;
    }
    if (head > 1024 || backlog() === 0) {
      queue = queue.slice(head);
      head = 0;
    }
    // What has been written cannot be changed any more.
    toolUpdate = delta = undefined;
    return text;
  }

  /** Puts a record into one that waits already; false when there is none. */
  function merge(record: Outgoing): boolean {
    const update = toolUpdate?.record;
    if (toolUpdate && isToolUpdate(record) && typeof update === "object" && isToolUpdate(update)) {
      if (record.toolCallId !== update.toolCallId) return false;
      toolUpdate.record = record;
      return true;
    }
    const before = delta?.record;
    if (!delta || !isDelta(record) || typeof before !== "object" || !isDelta(before)) return false;
    const [event, earlier] = [record.assistantMessageEvent, before.assistantMessageEvent];
    if (event.type !== earlier.type || event.contentIndex !== earlier.contentIndex) return false;
    const merged: Delta = {
      ...record,
      assistantMessageEvent: { ...event, delta: `${earlier.delta}${event.delta}` },
    };
    delta.record = merged;
    return true;
  }

  return {
    write(record) {
      if (failed || (isBehind() && merge(record))) return;
      const waiting = enqueue(record);
      // A response is no event, and does not come between.
      if (record.type === "response" || record.type === "bash_execution_update") return;
      toolUpdate = isToolUpdate(record) ? waiting : undefined;
      delta = isDelta(record) ? waiting : undefined;
    },
    writeLine(line) {
      if (!failed) enqueue(line);
    },
    backlog,
    isBehind,
    ready: async () => {
      while (isBehind()) await whenReady.promise;
    },
    async drain(hurry, work) {
      let over = false;
      const drained = async () => {
        await work;
        if (pumping) await whenDrained.promise;
        return true;
      };
      const stalled = async () => {
        await hurry;
        while (!over) {
          const before = taken;
          await Bun.sleep(patienceMs);
          if (pumping && taken === before) return false;
        }
        return true;
      };
      try {
        return await Promise.race([drained(), stalled()]);
      } finally {
        over = true;
      }
    },
  };
}

function isDelta(record: Outgoing): record is Delta {
  return record.type === "message_update" && (record as Delta).assistantMessageEvent.delta !== undefined;
}

function isToolUpdate(record: Outgoing): record is ToolUpdate {
  return record.type === "tool_execution_update";
}

/** Characters of a command's output in a record. */
function outputOf(record: Outgoing | string): number {
  if (typeof record === "string" || record.type !== "bash_execution_update") return 0;
  return (record as unknown as { readonly delta: string }).delta.length;
}
