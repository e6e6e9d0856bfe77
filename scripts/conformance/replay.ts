// Replays one recorded conversation against the program: the same lines, each sent once the program has come as far as the other one had.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { cleanEnv } from "../../test/helpers/run-cli.ts";
import { scriptedModelsConfig, startScriptedModels } from "../../test/helpers/scripted-models.ts";
import { tmp } from "../../test/helpers/tmp.ts";
import { type JsonObject, substitutions } from "./compare.ts";

const settingId = "setting";

/** A line of a recording; `in` records are texts where the line was sent as it is. */
export interface Recorded {
  readonly dir: "in" | "out";
  readonly record: JsonObject | string;
}

export interface Replayed {
  readonly expected: readonly JsonObject[];
  readonly actual: readonly JsonObject[];
  /** What went wrong beside the records: lines that are no JSON, a wait in vain, what stderr said. */
  readonly problems: readonly string[];
}

/**
 * What the other program had been told before, by name of the scenario: it keeps such settings from one run to the next.
 */
const settings: Readonly<Record<string, readonly JsonObject[]>> = {
  "09-queue": [
    { id: settingId, type: "set_steering_mode", mode: "all" },
    { id: settingId, type: "set_follow_up_mode", mode: "all" },
  ],
};

/** The longest wait for a record, in milliseconds. */
const patience = 10_000;

export function readRecording(path: string): Recorded[] {
  return readFileSync(path, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
}

/** Runs the scenario of this name. */
export async function replay(name: string, recording: readonly Recorded[], binary: string): Promise<Replayed> {
  await using server = await startScriptedModels({ sleep: 1 });
  await using dir = tmp();
  const [home, cwd] = [dir.file("home"), dir.file("work")];
  mkdirSync(`${home}/.pi-ts`, { recursive: true });
  mkdirSync(cwd);
  writeFileSync(`${home}/.pi-ts/config.toml`, scriptedModelsConfig(server));
  const child = Bun.spawn([binary, "--mode", "rpc", "--provider", "mock", "--model", "hello", "--yolo"], {
    cwd,
    env: cleanEnv(home),
    stdin: "pipe",
    stdout: "pipe",
    stderr: "pipe",
  });
  const actual: JsonObject[] = [];
  const problems: string[] = [];
  const arrivals = new Set<() => void>();
  const reading = readRecords(child.stdout, (line) => {
    try {
      const record = JSON.parse(line);
      if (record.id !== settingId) actual.push(record);
    } catch {
      problems.push(`no JSON on stdout: ${line}`);
    }
    for (const check of arrivals) check();
  });
  const stderr = child.stderr.text();
  let ended = false;
  const done = reading.then(() => {
    ended = true;
    for (const check of arrivals) check();
  });

  /** Resolves when the program has come as far as `before`, or after some patience. */
  async function reach(before: readonly JsonObject[]): Promise<void> {
    // The other program has answered blank lines too.
    const goal = { ...progress(before) };
    goal.answers -= blank;
    const isThere = () => isAtLeast(progress(actual), goal);
    const { promise, resolve } = Promise.withResolvers<void>();
    const check = () => {
      if (ended || isThere()) resolve();
    };
    const timer = setTimeout(resolve, patience);
    arrivals.add(check);
    check();
    await promise;
    arrivals.delete(check);
    clearTimeout(timer);
    if (!isThere()) problems.push(`waited in vain for ${describe(goal)}; it came to ${describe(progress(actual))}`);
  }

  const send = async (line: string) => {
    child.stdin.write(`${line}\n`);
    await child.stdin.flush();
  };
  for (const setting of settings[name] ?? []) await send(JSON.stringify(setting));
  const expected = recording.flatMap(({ dir, record }) => (dir === "out" ? [record as JsonObject] : []));
  const seen: JsonObject[] = [];
  let blank = 0;
  for (const { dir: direction, record } of recording) {
    if (direction === "out") seen.push(record as JsonObject);
    else {
      await reach(seen);
      const text = typeof record === "string" ? record : JSON.stringify(withOwnValues(record, expected, actual));
      await send(text.replaceAll("<tmp>", dir.path));
      if (text === "") blank++;
    }
  }
  await reach(seen);
  child.stdin.end();
  const timer = setTimeout(() => {
    problems.push("it did not end with its stdin");
    child.kill("SIGKILL");
  }, patience);
  await done;
  const code = await child.exited;
  clearTimeout(timer);
  if (code !== 0) problems.push(`it ended with ${code}`);
  const errors = (await stderr).trim();
  if (errors !== "") problems.push(`stderr: ${errors}`);
  problems.push(...server.problems);
  return { expected, actual, problems };
}

/** How far a conversation has come: how many answers, settled prompts, tools begun and commands with output there are. */
function progress(records: readonly JsonObject[]) {
  const count = (type: string) => records.filter((record) => record.type === type).length;
  const commands = records.filter(({ type }) => type === "bash_execution_update").map(({ id }) => id);
  return {
    answers: count("response"),
    settled: count("agent_settled"),
    tools: count("tool_execution_start"),
    commands: new Set(commands).size,
  };
}
type Progress = ReturnType<typeof progress>;

function isAtLeast(one: Progress, other: Progress): boolean {
  return (Object.keys(other) as (keyof Progress)[]).every((key) => one[key] >= other[key]);
}

function describe(state: Progress): string {
  return Object.entries(state)
    .map(([what, count]) => `${count} ${what}`)
    .join(", ");
}

/** The command with ids and paths of this run in the place of those in the recording. */
function withOwnValues(
  command: JsonObject,
  expected: readonly JsonObject[],
  actual: readonly JsonObject[],
): JsonObject {
  const own = new Map<string, string>();
  for (const answer of expected) {
    if (answer.type !== "response" || answer.id === undefined) continue;
    const other = actual.find(({ type, id }) => type === "response" && id === answer.id);
    for (const [theirs, ours] of substitutions(answer.data, other?.data)) own.set(theirs, ours);
  }
  const fields = Object.entries(command).map(([key, value]) => {
    const isReference = key === "entryId" || key === "sessionPath";
    return [key, isReference && typeof value === "string" ? (own.get(value) ?? value) : value];
  });
  return Object.fromEntries(fields);
}

async function readRecords(stream: ReadableStream<Uint8Array>, onLine: (line: string) => void): Promise<void> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const bytes of stream) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) onLine(line);
  }
  if (rest !== "") onLine(rest);
}
