// Turns in the REPL: streaming, aborting, failing, and what is left in the history and in the edit line.
import { expect, test } from "bun:test";
import { chatTurn, done, finish, textDelta } from "../helpers/chat-stream.ts";
import { byteByByte, gate, refusal, startReplayServer } from "../helpers/replay-server.ts";
import { tmp } from "../helpers/tmp.ts";
import { waitUntil } from "../helpers/wait-until.ts";
import { conversation, openRepl } from "./start-repl.ts";

const call = (name: string, args: Record<string, unknown>) => ({
  turn: { calls: [{ id: "c1", name, arguments: args }] },
});
const answer = (text: string) => ({ turn: { text, usage: { prompt: 10, completion: 5 } } });

test("an answer is shown as it streams, untrusted characters visible", async () => {
  const rest = gate();
  const ending = [textDelta("second \x1b]0;evil\x07part"), finish("stop"), done];
  await using server = await startReplayServer([{ body: [textDelta("first "), rest.opened, ...ending] }]);
  await using repl = await openRepl(server);
  await repl.ready();
  repl.enter("hello");
  await repl.waitFor("first");
  rest.open();
  await repl.waitFor("second ␛]0;evil␇part");
  await repl.ready();
  expect(repl.output).not.toContain("\x1b]0;");
  expect(repl.screen().slice(3)).toEqual(["> hello", "", "first second ␛]0;evil␇part", "", ">"]);
  expect(server.problems).toEqual([]);
});

const marked = "## Done\n\nAll **3** tests in `a.ts` pass:\n\n```sh\nbun test\n```";

test("the Markdown of an answer is shown as what it means, when a conversation goes on too", async () => {
  await using dir = tmp();
  await using server = await startReplayServer([{ body: byteByByte(chatTurn({ text: marked })) }]);
  await using repl = await openRepl(server, { cwd: dir.path, home: dir.path });
  await repl.ready();
  repl.enter("hello");
  await repl.waitFor("bun test");
  await repl.ready();
  const shown = ["Done", "", "All 3 tests in a.ts pass:", "", "─── sh", "bun test", "───"];
  expect(repl.screen().slice(3)).toEqual(["> hello", "", ...shown, "", ">"]);
  expect(repl.output).toContain("All \x1b[1m3\x1b[22m tests in \x1b[36ma.ts\x1b[39m pass:");
  repl.enter("/exit");
  await repl.exited();
  await using again = await openRepl(server, { cwd: dir.path, home: dir.path, args: ["-c"] });
  await again.ready();
  expect(again.screen().slice(2)).toEqual(["> hello", ...shown, "", ">"]);
  expect(again.output).toContain("All \x1b[1m3\x1b[22m tests in \x1b[36ma.ts\x1b[39m pass:");
});

test.each([
  ["--no-markdown", ["--no-markdown"], {}],
  ["NO_COLOR", [], { NO_COLOR: "1" }],
  ["a terminal that knows no escape sequences", [], { TERM: "dumb" }],
])("with %s an answer is shown as it was written", async (_name, args, env) => {
  await using server = await startReplayServer([{ body: byteByByte(chatTurn({ text: marked })) }]);
  await using repl = await openRepl(server, { args, env });
  await repl.ready();
  repl.enter("hello");
  await repl.waitFor(/test\s+```\s/);
  await repl.ready();
  expect(repl.text).toContain(marked.replaceAll("\n", "\r\n"));
});

test("an emoji or a line break that comes in pieces is shown as one", async () => {
  const pieces = ["Take care ", "⚠", "\ufe0f", " 👩", "\u200d", "💻", " 1", "\ufe0f", "\u20e3\r", "\nso"];
  await using server = await startReplayServer([
    { body: [...pieces.map((piece) => textDelta(piece)), finish("stop"), done] },
  ]);
  await using repl = await openRepl(server);
  await repl.ready();
  repl.enter("hello");
  await repl.waitFor(/1\ufe0f\u20e3\s+so\s/);
  expect(repl.text).toContain("Take care ⚠\ufe0f 👩\u200d💻 1\ufe0f\u20e3\r\nso");
});

test("the status line says what is waited for and leaves no trace", async () => {
  const begin = gate();
  await using server = await startReplayServer([
    { body: [begin.opened, ...chatTurn({ reasoning: "Hm.", text: "Yes." })] },
  ]);
  await using repl = await openRepl(server, { cols: 40, args: ["-m", "a-model-with-a-long-name-that-fits-nowhere"] });
  await repl.ready();
  repl.enter("hello");
  await repl.waitFor(/waiting for openai\/a-model.*… {2}1 s/);
  expect(repl.screen().at(-2)).toBe("> hello");
  begin.open();
  await repl.waitFor("Yes.");
  await repl.ready();
  expect(repl.screen().slice(-7)).toEqual(["> hello", "", "Hm.", "", "Yes.", "", ">"]);
});

test.each([
  ["Ctrl-C", "\x03"],
  ["Escape", "\x1b"],
])("%s ends a stream at once; what came stays in the history", async (_, key) => {
  await using server = await startReplayServer([{ body: [textDelta("half an ans"), gate().opened] }, answer("whole")]);
  await using repl = await openRepl(server);
  await repl.ready();
  repl.enter("one");
  await repl.waitFor("half an ans");
  repl.write(key);
  await repl.waitFor("interrupted");
  await repl.ready();
  await (await server.request(0)).closed;
  repl.enter("two");
  await repl.waitFor("whole");
  expect(conversation(server.requests[1]?.body)).toEqual(["user: one", "assistant: half an ans", "user: two"]);
  expect(server.problems).toEqual([]);
});

test("Ctrl-C before any answer brings the input back and leaves the history as it was", async () => {
  await using server = await startReplayServer(["silent", answer("whole")]);
  await using repl = await openRepl(server);
  await repl.ready();
  repl.enter("one");
  await server.request(0);
  repl.write("\x03");
  await repl.waitFor("interrupted");
  await repl.lastRow("> one");
  repl.enter(" more");
  await repl.waitFor("whole");
  expect(conversation(server.requests[1]?.body)).toEqual(["user: one more"]);
});

test("Ctrl-C ends a running tool with its children, and the next turn has a result for the call", async () => {
  const sleep = `sleep 4321.${process.pid}`;
  const command = `${sleep} & echo started; wait`;
  await using server = await startReplayServer([call("bash", { command }), answer("next")]);
  await using repl = await openRepl(server, { args: ["--yolo"] });
  await repl.ready();
  repl.enter("run it");
  await repl.waitFor(/bash sleep 4321.* \d s/);
  await waitUntil(() => running(sleep), "the command runs");
  repl.write("\x03");
  await repl.waitFor(/✗ bash .*aborted by the user/);
  await repl.ready();
  expect(running(sleep)).toBe(false);
  repl.enter("go on");
  await repl.waitFor("next");
  expect(server.requests[1]?.body.messages.map(({ role }: { role: string }) => role)).toEqual([
    "system",
    "user",
    "assistant",
    "tool",
    "user",
  ]);
  expect(server.problems).toEqual([]);
});

test("after an API error the input is back in the edit line, to be changed and sent again", async () => {
  const refused = refusal(400, { error: { message: "no such thing" } });
  await using server = await startReplayServer([refused, answer("better")]);
  await using repl = await openRepl(server);
  await repl.ready();
  repl.enter("firts");
  await repl.waitFor(/error: .*no such thing/);
  await repl.lastRow("> firts");
  repl.write("\x7f\x7fst\r");
  await repl.waitFor("better");
  expect(conversation(server.requests[1]?.body)).toEqual(["user: first"]);
});

test("a passing failure is told and tried again", async () => {
  const busy = refusal(503, { error: { message: "too busy" } }, { "retry-after": "1" });
  await using server = await startReplayServer([busy, answer("at last")]);
  await using repl = await openRepl(server);
  await repl.ready();
  repl.enter("hello");
  await repl.waitFor("too busy");
  await repl.waitFor(/trying again in .* \(1 of \d+\)/);
  await repl.waitFor("at last");
  await repl.ready();
  expect(server.requests).toHaveLength(2);
});

test("what is typed during a turn is seen behind the status, and waits for the next prompt", async () => {
  const rest = gate();
  await using server = await startReplayServer([{ body: [textDelta("begin"), rest.opened, finish("stop"), done] }]);
  await using repl = await openRepl(server);
  await repl.ready();
  repl.enter("hello");
  await repl.waitFor("begin");
  repl.write("typed ahaed\x7f\x7f\x7fead");
  await repl.waitFor(() => / is answering {2}\d s.* {2}> typed ahead$/.test(repl.screen().at(-1) ?? ""));
  rest.open();
  await repl.lastRow("> typed ahead");
  expect(repl.screen().slice(3)).toEqual(["> hello", "", "begin", "", "> typed ahead"]);
});

test("an input that was ended during a turn is sent behind it", async () => {
  const rest = gate();
  const slow = { body: [rest.opened, textDelta("first answer"), finish("stop"), done] };
  await using server = await startReplayServer([slow, answer("second answer")]);
  await using repl = await openRepl(server);
  await repl.ready();
  repl.enter("one");
  await repl.waitFor("waiting for");
  repl.write("two\rthr");
  await repl.waitFor("  > two⏎thr");
  rest.open();
  await repl.waitFor("second answer");
  await repl.lastRow("> thr");
  expect(conversation(server.requests[1]?.body)).toEqual(["user: one", "assistant: first answer", "user: two"]);
});

test("a failed command shows its exit code and the end of its output", async () => {
  const command = "seq 1 9; exit 3";
  await using server = await startReplayServer([call("bash", { command }), answer("I see.")]);
  await using repl = await openRepl(server, { args: ["--yolo"], env: { NO_COLOR: "1" } });
  await repl.ready();
  repl.enter("run it");
  await repl.waitFor("I see.");
  await repl.ready();
  expect(repl.text).toMatch(
    /✗ bash seq 1 9; exit 3 {2}exit code 3 {2}\d+ ms\r\n {4}5\r\n {4}6\r\n {4}7\r\n {4}8\r\n {4}9\r\n/,
  );
  expect(repl.output).not.toMatch(/\x1b\[[\d;]*m/);
});

test("a first task on the command line runs at once and is in the history", async () => {
  await using server = await startReplayServer([answer("done it")]);
  await using repl = await openRepl(server, { args: ["do", "it"] });
  await repl.waitFor("> do it");
  await repl.waitFor("done it");
  await repl.ready();
  repl.write("\x1b[A");
  await repl.lastRow("> do it");
  expect(conversation(server.requests[0]?.body)).toEqual(["user: do it"]);
});

function running(command: string): boolean {
  return Bun.spawnSync(["pgrep", "-xf", command]).exitCode === 0;
}
