// Fifty runs at once, as a job runner starts them: one process a task, in one working directory, with one folder for all sessions.
import { expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Entry, SessionHeader } from "../../src/protocol/entry.ts";
import { RunResult } from "../../src/protocol/outcome.ts";
import { gate, type RecordedRequest, type Reply, startReplayServer } from "../helpers/replay-server.ts";
import { type CliProcess, startCli } from "../helpers/run-cli.ts";
import { tmp } from "../helpers/tmp.ts";

setDefaultTimeout(60_000);

const count = 50;
/** What happens to these tasks; all others call a tool and end well. */
const refused = "task-13";
const denied = "task-29";
const stopped = "task-37";

const tasks = Array.from({ length: count }, (_, i) => `task-${String(i + 1).padStart(2, "0")}`);
const tasksIn = (text: string) => [...new Set(text.match(/task-\d\d/g))];

/** Answers nobody before all are there, so that all run at the same time; then each by its task. */
async function startModel() {
  const waiting = new Set<string>();
  const { opened: allAreHere, open } = gate();
  async function answer({ body }: RecordedRequest): Promise<Reply> {
    const spoken: { role: string; content: unknown }[] = body.messages;
    const [task = "none"] = tasksIn(JSON.stringify(spoken.find(({ role }) => role === "user")));
    if (spoken.at(-1)?.role === "tool") return { turn: { text: `The answer to ${task}.` } };
    waiting.add(task);
    if (waiting.size === count) open();
    await allAreHere;
    if (task === refused) return { status: 401, body: '{"error":{"message":"no such key"}}' };
    if (task === stopped) return "silent";
    if (task === denied) return { turn: { calls: [{ name: "bash", arguments: { command: `echo ${task}` } }] } };
    return { turn: { calls: [{ name: "write", arguments: { path: `${task}.txt`, content: `by ${task}\n` } }] } };
  }
  return { server: await startReplayServer(answer), allAreHere };
}

test("fifty runs at once: each has its own answer, verdict, exit code and session, and nothing is lost or mixed", async () => {
  const { server, allAreHere } = await startModel();
  await using _server = server;
  await using dir = tmp();
  const [home, cwd, sessions, results] = ["home", "work", "sessions", "results"].map((name) => dir.file(name));
  for (const folder of [home, cwd, results]) mkdirSync(folder!);
  const env = {
    PI_PROVIDER: "openai",
    OPENAI_API_KEY: "k",
    PI_BASE_URL: server.url,
    PI_TS_SESSION_DIR: sessions,
  };
  const result = (task: string) => join(results!, `${task}.json`);
  const start = (task: string): CliProcess =>
    startCli(["-p", "--fail-on-denied", "--result", result(task), task], {
      env,
      home: home!,
      cwd: cwd!,
      timeout: 50_000,
      ...(task === stopped ? { signalWhen: { when: allAreHere, signal: "SIGTERM" } } : {}),
    });
  const runs = await Promise.all(tasks.map(async (task) => ({ task, ...(await start(task).exited) })));

  const codes = new Map([
    [refused, 1],
    [denied, 1],
    [stopped, 143],
  ]);
  for (const { task, code, stdout, stderr } of runs) {
    const answered = task !== refused && task !== stopped;
    expect({ task, code, stdout }).toEqual({
      task,
      code: codes.get(task) ?? 0,
      stdout: answered ? `The answer to ${task}.\n` : "",
    });
    expect(tasksIn(stderr).filter((other) => other !== task)).toEqual([]);
  }

  const changed = tasks.filter((task) => !codes.has(task));
  expect(readdirSync(cwd!).sort()).toEqual(changed.map((task) => `${task}.txt`));
  for (const task of changed) expect(readFileSync(join(cwd!, `${task}.txt`), "utf8")).toBe(`by ${task}\n`);

  // One whole file each, and neither a lock nor a part of one beside them.
  const [folder = "", ...otherFolders] = readdirSync(sessions!);
  expect(otherFolders).toEqual([]);
  const files = readdirSync(join(sessions!, folder));
  expect(files.filter((name) => !name.endsWith(".jsonl"))).toEqual([]);
  const stored = new Map(files.map((name) => readSession(join(sessions!, folder, name))));
  expect([...stored.values()].sort()).toEqual(tasks);
  const ends = new Map([
    [refused, "error: auth"],
    [denied, "error: denied"],
    [stopped, "aborted: aborted"],
  ]);
  for (const task of tasks) {
    const { exitCode, status, reason, sessionId } = RunResult.parse(JSON.parse(readFileSync(result(task), "utf8")));
    const end = reason === null ? status : `${status}: ${reason.code}`;
    expect({ task, exitCode, end }).toEqual({ task, exitCode: codes.get(task) ?? 0, end: ends.get(task) ?? "done" });
    expect(stored.get(sessionId!)).toBe(task);
  }
  expect(server.problems).toEqual([]);
});

/** The id of a session whose every line is whole, and the one task that it is about. */
function readSession(path: string): [string, string] {
  const text = readFileSync(path, "utf8");
  expect(text).toEndWith("\n");
  const [header, ...entries] = text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  for (const entry of entries) Entry.parse(entry);
  return [SessionHeader.parse(header).id, tasksIn(text).join()];
}
