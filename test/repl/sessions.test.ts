// Sessions in the REPL: going on, naming, branching, and what the user sees of it.
import { expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { startReplayServer } from "../helpers/replay-server.ts";
import { runCli } from "../helpers/run-cli.ts";
import { linesOf } from "../helpers/session-file.ts";
import { tmp } from "../helpers/tmp.ts";
import { conversation, openRepl, type ReplSettings } from "./start-repl.ts";

const answers = (_request: unknown, position: number) => ({ turn: { text: `answer ${position + 1}` } });

async function createWorld() {
  const server = await startReplayServer(answers);
  const dir = tmp();
  const [home, cwd] = [dir.file("home"), dir.file("work")];
  for (const folder of [home, cwd]) mkdirSync(folder);
  const folder = `${home}/.pi-ts/sessions/--${cwd.slice(1).replaceAll("/", "-")}--`;
  const env = { PI_PROVIDER: "openai", OPENAI_API_KEY: "k", PI_BASE_URL: server.url };
  return {
    server,
    open: async (args: readonly string[], options: ReplSettings = {}) => {
      const repl = await openRepl(server, { home, cwd, args, ...options });
      await repl.ready();
      const say = async (text: string) => {
        repl.enter(text);
        await repl.ready();
      };
      return Object.assign(repl, { say });
    },
    run: (args: readonly string[]) => runCli(args, { home, cwd, env }),
    files: () => (existsSync(folder) ? readdirSync(folder).map((name) => `${folder}/${name}`) : []),
    said: (position: number) => conversation(server.requests[position]?.body).map((line) => line.replace(/^\w+: /, "")),
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await dir[Symbol.asyncDispose]();
    },
  };
}

test("--continue shows where the conversation stands, and leaving tells how to come back", async () => {
  await using world = await createWorld();
  for (const task of [["one"], ["-c", "two"], ["-c", "three\nlines"]]) await world.run(["-p", ...task]);
  await using repl = await world.open(["-c"]);
  expect(repl.screen().slice(2)).toEqual([
    "… 1 earlier message of yours",
    "> two",
    "answer 2",
    "> three",
    "  lines",
    "answer 3",
    "",
    ">",
  ]);
  await repl.say("four");
  expect(world.said(3)).toEqual(["one", "answer 1", "two", "answer 2", "three\nlines", "answer 3", "four"]);
  repl.enter("/exit");
  expect(await repl.exited()).toBe(0);
  expect(repl.text).toMatch(/session ([\w-]{36}) \(pi-ts --resume \1 goes on\)/);
  expect(world.files()).toHaveLength(1);
});

test("/save stores what began with --no-session, under a name", async () => {
  await using world = await createWorld();
  await using repl = await world.open(["--no-session"]);
  await repl.say("one");
  expect(world.files()).toEqual([]);
  await repl.say("/save the parser");
  expect(repl.text).toContain("'the parser',");
  await repl.say("two");
  repl.enter("/exit");
  await repl.exited();
  const [path] = world.files() as [string];
  expect(world.files()).toEqual([path]);
  const kinds = linesOf(path)
    .map((line) => JSON.parse(line))
    .map(({ type, message }) => message?.role ?? type);
  expect(kinds).toEqual([
    "session",
    "model_change",
    "system",
    "user",
    "assistant",
    "session_info",
    "user",
    "assistant",
  ]);
  expect(world.said(1)).toEqual(["one", "answer 1", "two"]);
});

test("/new begins another session and /resume goes back, by a pick or a name", async () => {
  await using world = await createWorld();
  await using repl = await world.open([]);
  await repl.say("/name first one");
  await repl.say("one");
  await repl.say("/new");
  await repl.say("two");
  await repl.say("/session");
  expect(repl.text).toContain("1 of yours, 1 answer, 0 tool results");
  repl.enter("/resume");
  await repl.waitFor(/1 {2}\d{4}-\d\d-\d\d \d\d:\d\d {2}first one[\s\S]*Enter: none\): \r?$/);
  repl.enter("1");
  await repl.waitFor("Going on in first one.");
  await repl.ready();
  await repl.say("three");
  expect(world.said(2)).toEqual(["one", "answer 1", "three"]);
  expect(world.files().filter((path) => path.endsWith(".jsonl"))).toHaveLength(2);
  await repl.say("/resume nothing");
  expect(repl.text).toContain("No session has the id or name 'nothing'");
  await repl.say("/resume first");
  expect(repl.text).toContain("This is that session.");
  repl.enter("/resume");
  await repl.waitFor(/Enter: none\): \r?$/);
  repl.write("\x1b");
  await repl.waitFor("The session stays as it is.");
  await repl.ready();
  await repl.say("/session");
  expect(repl.text).toMatch(/name +first one\s+file +\S+\.jsonl/);
  expect(repl.text).toContain("2 of yours, 2 answers, 0 tool results");
});

test("/resume goes on with the model that the session was on, as --resume does", async () => {
  await using world = await createWorld();
  await world.run(["-p", "--session-id", "small", "-m", "gpt-6-luna", "one"]);
  await world.run(["-p", "--session-id", "lost", "-m", "no-such-model", "two"]);
  await using repl = await world.open(["-m", "gpt-6.2-sol"]);
  await repl.say("/resume small");
  expect(repl.text).toContain("It is on openai/gpt-6-luna.");
  await repl.say("three");
  await repl.say("/resume lost");
  expect(repl.text).toContain("The session was on openai/no-such-model: Model not found");
  await repl.say("four");
  expect(world.server.requests.slice(2).map(({ body }) => body.model)).toEqual(["gpt-6-luna", "gpt-6-luna"]);
});

test("/fork copies what came before a message and gives its text back to be changed", async () => {
  await using world = await createWorld();
  await using repl = await world.open([]);
  await repl.say("one");
  await repl.say("two");
  repl.enter("/fork");
  await repl.waitFor(/1 {2}two[\s\S]*2 {2}one[\s\S]*Enter: none\): \r?$/);
  repl.enter("1");
  await repl.lastRow("> two");
  repl.enter(" but differently");
  await repl.ready();
  expect(world.said(2)).toEqual(["one", "answer 1", "two but differently"]);
  const [original, copy] = world
    .files()
    .filter((path) => path.endsWith(".jsonl"))
    .sort() as [string, string];
  expect(linesOf(original).join()).not.toContain("differently");
  expect(JSON.parse(linesOf(copy)[0] as string).parentSession).toBe(original);
});

test("/tree shows the branches, and one goes on from any point of them", async () => {
  await using world = await createWorld();
  await using repl = await world.open([]);
  await repl.say("one");
  await repl.say("two");
  repl.enter("/tree");
  await repl.waitFor(/\* you: one[\s\S]*4 {2}\* pi-ts: answer 2[\s\S]*Enter: none\): \r?$/);
  repl.enter("2");
  await repl.waitFor("Going on from there.");
  await repl.ready();
  await repl.say("three");
  expect(world.said(2)).toEqual(["one", "answer 1", "three"]);
  repl.enter("/tree");
  await repl.waitFor(/3 {6}you: two[\s\S]*5 {2}\* {3}you: three[\s\S]*Enter: none\): \r?$/);
  repl.enter("");
  await repl.waitFor("The session stays as it is.");
  await repl.ready();
  expect(world.files().filter((path) => path.endsWith(".jsonl"))).toHaveLength(1);
});

test("--resume without a value shows a list to pick from", async () => {
  await using world = await createWorld();
  await world.run(["-p", "about apples"]);
  await world.run(["-p", "about pears"]);
  await using repl = await openResume(world);
  await repl.waitFor(/1 {2}.*about pears\s+2 {2}.*about apples[\s\S]*Enter: none\): \r?$/);
  repl.write("apples\r");
  await repl.ready();
  repl.enter("more");
  await repl.ready();
  expect(world.said(2)).toEqual(["about apples", "answer 1", "more"]);
});

async function openResume(world: Awaited<ReturnType<typeof createWorld>>) {
  const folder = world.files()[0]?.split("/.pi-ts/")[0] as string;
  return openRepl(world.server, { home: folder, cwd: `${folder}/../work`, args: ["--resume"] });
}
