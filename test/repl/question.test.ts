// The permission question in the REPL.
import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { done, finish, textDelta, toolCallDeltas } from "../helpers/chat-stream.ts";
import { gate, startReplayServer } from "../helpers/replay-server.ts";
import { tmp } from "../helpers/tmp.ts";
import { openRepl } from "./start-repl.ts";

const bash = (command: string) => ({ turn: { calls: [{ id: "c1", name: "bash", arguments: { command } }] } });
const answer = { turn: { text: "All said." } };
const toolResult = (body: { messages: { role: string; content: string }[] }) => body.messages.at(-1)?.content;

test.each(["y", "yes", " Y "])("%p runs the command", async (typed) => {
  await using dir = tmp();
  await using server = await startReplayServer([bash("echo made > made.txt"), answer]);
  await using repl = await openRepl(server, { cwd: dir.path });
  await repl.ready();
  repl.enter("make it");
  await repl.waitFor("Run this command?");
  await repl.waitFor("echo made > made.txt");
  await repl.waitFor("[y/N");
  expect(repl.screen()).toContain("    = no, and the model is told");
  repl.enter(typed);
  await repl.waitFor("✓ bash");
  await repl.waitFor("All said.");
  expect(readFileSync(dir.file("made.txt"), "utf8")).toBe("made\n");
});

test.each(["n", "", "No", "\x04"])("%p does not, and the model is told", async (typed) => {
  await using dir = tmp();
  await using server = await startReplayServer([bash("echo made > made.txt"), answer]);
  await using repl = await openRepl(server, { cwd: dir.path });
  await repl.ready();
  repl.enter("make it");
  await repl.waitFor("[y/N");
  repl.write(typed === "\x04" ? typed : `${typed}\r`);
  await repl.waitFor("✗ bash");
  await repl.waitFor("All said.");
  expect(toolResult(server.requests[1]?.body)).toBe("Error: denied: the user did not approve bash");
  expect(existsSync(dir.file("made.txt"))).toBe(false);
});

test("anything else does not, and the model is told what was typed", async () => {
  await using dir = tmp();
  await using server = await startReplayServer([bash("echo made > made.txt"), answer]);
  await using repl = await openRepl(server, { cwd: dir.path });
  await repl.ready();
  repl.enter("make it");
  await repl.waitFor("[y/N");
  repl.enter("yes, but into out.txt");
  await repl.waitFor("All said.");
  expect(toolResult(server.requests[1]?.body)).toBe(
    "Error: denied: the user did not approve bash, and says: yes, but into out.txt",
  );
  expect(existsSync(dir.file("made.txt"))).toBe(false);
});

test("a allows that exact command until the end, and asks about any other", async () => {
  await using dir = tmp();
  const turns = ["echo 1 >> made.txt", "echo 1 >> made.txt", "echo 1 >> made.txt; echo 2 >> made.txt"].map(bash);
  await using server = await startReplayServer([...turns, answer]);
  await using repl = await openRepl(server, { cwd: dir.path });
  await repl.ready();
  repl.enter("make it");
  await repl.waitFor("a = this exact command");
  await repl.waitFor("[y/N");
  repl.enter("a");
  await repl.waitFor("echo 2 >> made.txt");
  await repl.waitFor("[y/N");
  repl.enter("n");
  await repl.waitFor("All said.");
  expect(readFileSync(dir.file("made.txt"), "utf8")).toBe("1\n1\n");
});

test("a long command of many lines is shown whole, each row of it indented", async () => {
  const command = Array.from({ length: 60 }, (_, i) => `echo line-${i} ${"x".repeat(100)}`).join("\n");
  await using server = await startReplayServer([bash(command), answer]);
  await using repl = await openRepl(server);
  await repl.ready();
  repl.enter("make it");
  await repl.waitFor("[y/N");
  const rows = repl.text.split(/\r?\n/);
  const shown = rows.filter((row) => row.startsWith("    ")).map((row) => row.slice(4));
  expect(shown.join("")).toContain(command.replaceAll("\n", ""));
  repl.enter("n");
  await repl.waitFor("All said.");
});

test.each([
  ["Ctrl-C", "\x03"],
  ["Escape", "\x1b"],
])("%s ends the run, whatever was typed", async (_, key) => {
  await using dir = tmp();
  await using server = await startReplayServer([bash("echo made > made.txt")]);
  await using repl = await openRepl(server, { cwd: dir.path });
  await repl.ready();
  repl.enter("make it");
  await repl.waitFor("[y/N");
  repl.write("y");
  await repl.lastRow("[y/N/a or why not] y");
  repl.write(key);
  await repl.waitFor("interrupted");
  expect(existsSync(dir.file("made.txt"))).toBe(false);
});

test("what was typed before the question does not answer it", async () => {
  await using dir = tmp();
  const gates = [gate(), gate(), gate()];
  const [first, second, third] = gates.map(({ opened }) => opened) as [Promise<void>, Promise<void>, Promise<void>];
  const call = toolCallDeltas({ name: "bash", arguments: { command: "echo made > made.txt" } });
  const body = [first, textDelta("one "), second, textDelta("two "), third, ...call, finish("tool_calls"), done];
  await using server = await startReplayServer([{ body }]);
  await using repl = await openRepl(server, { cwd: dir.path });
  await repl.ready();
  repl.enter("make it");
  await server.request(0);
  repl.write("y\r");
  // Two words, one after the other, take it twice around its event loop, and past the keys.
  gates[0]?.open();
  await repl.waitFor("one");
  gates[1]?.open();
  await repl.waitFor("two");
  gates[2]?.open();
  await repl.waitFor("[y/N");
  repl.write("\x03");
  await repl.waitFor("interrupted");
  await repl.lastRow("> y");
  expect(existsSync(dir.file("made.txt"))).toBe(false);
});

test("nor does what was typed while the program could not read it", async () => {
  await using dir = tmp();
  const [begin, sent] = [gate(), gate()];
  const call = toolCallDeltas({ name: "bash", arguments: { command: "echo made > made.txt" } });
  function* body() {
    yield textDelta("one ");
    yield begin.opened;
    yield [...call, finish("tool_calls"), done].join("");
    sent.open();
  }
  await using server = await startReplayServer([{ body: body() }]);
  await using repl = await openRepl(server, { cwd: dir.path });
  await repl.ready();
  repl.enter("make it");
  await repl.waitFor("one");
  repl.kill("SIGSTOP");
  begin.open();
  await sent.opened;
  repl.write("y\r");
  repl.kill("SIGCONT");
  await repl.waitFor("[y/N");
  repl.write("\x03");
  await repl.waitFor("interrupted");
  await repl.lastRow("> y");
  expect(existsSync(dir.file("made.txt"))).toBe(false);
});

test("a diff is shown whole, with control characters visible", async () => {
  await using dir = tmp();
  const path = dir.file("outside.txt");
  const content = `one\x1b[2Ktwo\n${"long ".repeat(60)}end\n`;
  const write = { turn: { calls: [{ id: "c1", name: "write", arguments: { path, content } }] } };
  await using server = await startReplayServer([write, answer]);
  await using repl = await openRepl(server);
  await repl.ready();
  repl.enter("write it");
  await repl.waitFor(/Allow write .*outside\s+the\s+working\s+directory/s);
  await repl.waitFor("+one␛[2Ktwo");
  await repl.waitFor("[y/N");
  expect(repl.text.replaceAll(/\r?\n {4}/g, "")).toContain(`${"long ".repeat(60)}end`);
  expect(repl.output).not.toContain("\x1b[2K");
  expect(repl.output).toContain("\x1b[32m    +one␛[2Ktwo");
  expect(repl.output).toContain("\x1b[32m    long");
  repl.enter("y");
  await repl.waitFor("All said.");
  expect(readFileSync(path, "utf8")).toBe(content);
});
