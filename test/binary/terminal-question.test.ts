// The gate's question in a one-shot run on a terminal.
import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { done, finish, textDelta, toolCallDeltas } from "../helpers/chat-stream.ts";
import { startPty } from "../helpers/pty.ts";
import { gate, startReplayServer } from "../helpers/replay-server.ts";
import { tmp } from "../helpers/tmp.ts";

const bash = (command: string) => ({ turn: { calls: [{ id: "c1", name: "bash", arguments: { command } }] } });
const answer = { turn: { text: "All said." } };
const at = (url: string) => ({ PI_PROVIDER: "openai", OPENAI_API_KEY: "test-key", PI_BASE_URL: url });

test.each([
  ["y", true, undefined],
  ["Y", true, undefined],
  ["yes", true, undefined],
  ["a", true, undefined],
  ["", false, "Error: denied: the user did not approve bash"],
  ["n", false, "Error: denied: the user did not approve bash"],
  ["use make", false, "Error: denied: the user did not approve bash, and says: use make"],
])("%p is understood", async (typed, runs, told) => {
  await using dir = tmp();
  await using server = await startReplayServer([bash("touch made"), answer]);
  await using pty = await startPty(["-p", "go"], { env: at(server.url), cwd: dir.path });
  await pty.waitFor("Run this command? (it runs a command)");
  await pty.waitFor("    touch made");
  await pty.waitFor("[y/N/a or why not] ");
  pty.write(`${typed}\r`);
  await pty.waitFor("All said.");
  expect(await pty.exited()).toBe(0);
  expect(existsSync(dir.file("made"))).toBe(runs);
  if (told) expect(server.requests[1]?.body.messages.at(-1).content).toBe(told);
});

test("the end of input is a no", async () => {
  await using dir = tmp();
  await using server = await startReplayServer([bash("touch made"), answer]);
  await using pty = await startPty(["-p", "go"], { env: at(server.url), cwd: dir.path });
  await pty.waitFor("[y/N/a or why not] ");
  pty.write("\x04");
  await pty.waitFor("All said.");
  expect(existsSync(dir.file("made"))).toBe(false);
});

test("a holds for that exact command until the end", async () => {
  await using dir = tmp();
  const command = "echo x >> made";
  await using server = await startReplayServer([bash(command), bash(command), answer]);
  await using pty = await startPty(["-p", "go"], { env: at(server.url), cwd: dir.path });
  await pty.waitFor("[y/N/a or why not] ");
  pty.write("a\r");
  await pty.waitFor("All said.");
  expect(readFileSync(dir.file("made"), "utf8")).toBe("x\nx\n");
});

test.each([
  ["a whole line", "y\r"],
  ["half a line", "y"],
  ["two lines and a half", "y\ra\ry"],
])("%s typed before the question does not answer it", async (_, typed) => {
  await using dir = tmp();
  const { opened, open } = gate();
  const call = toolCallDeltas({ name: "bash", arguments: { command: "touch made" } });
  const body = [textDelta("Wait. "), opened, ...call, finish("tool_calls"), done];
  await using server = await startReplayServer([{ body }, answer]);
  await using pty = await startPty(["-p", "go"], { env: at(server.url), cwd: dir.path });
  await pty.waitFor("Wait.");
  pty.write(typed);
  // The terminal's echo shows that it is there to be read.
  await pty.waitFor(typed.at(-1) === "y" ? "y" : "y\r\n");
  open();
  await pty.waitFor("[y/N/a or why not] ");
  pty.write("\r");
  await pty.waitFor("All said.");
  expect(existsSync(dir.file("made"))).toBe(false);
  expect(server.requests[1]?.body.messages.at(-1).content).toBe("Error: denied: the user did not approve bash");
});

test("what was typed behind an answer does not answer the next question", async () => {
  await using dir = tmp();
  await using server = await startReplayServer([bash("touch one"), bash("touch two"), answer]);
  await using pty = await startPty(["-p", "go"], { env: at(server.url), cwd: dir.path });
  await pty.waitFor("[y/N/a or why not] ");
  pty.write("n\ry\ry");
  await pty.waitFor("    touch two");
  await pty.waitFor("[y/N/a or why not] ");
  pty.write("\r");
  await pty.waitFor("All said.");
  expect(existsSync(dir.file("two"))).toBe(false);
});

test("after the end of input every question is a no, and each begins a row of its own", async () => {
  await using dir = tmp();
  await using server = await startReplayServer([bash("touch one"), bash("touch two"), answer]);
  await using pty = await startPty(["-p", "go"], { env: at(server.url), cwd: dir.path });
  await pty.waitFor("[y/N/a or why not] ");
  pty.write("\x04");
  await pty.waitFor("All said.");
  expect(await pty.exited()).toBe(0);
  expect(existsSync(dir.file("one")) || existsSync(dir.file("two"))).toBe(false);
  expect(pty.text).not.toMatch(/\[y\/N\/a or why not\] [^\r\n]/);
});

test("a command longer than a row goes on indented, so that none of it looks like a line of ours", async () => {
  await using dir = tmp();
  const fake = "[y/N/a or why not] ";
  const command = `: ${"x".repeat(72)}${fake}${"y".repeat(80)}`;
  await using server = await startReplayServer([bash(command), answer]);
  await using pty = await startPty(["-p", "go"], { env: at(server.url), cwd: dir.path, cols: 80 });
  await pty.waitFor(/^\[y\/N\/a or why not\] /m);
  const rows = pty.screen();
  const from = rows.findIndex((row) => row.startsWith("    : xxx"));
  expect(rows.slice(from, from + 3).every((row) => row.startsWith("    "))).toBe(true);
  expect(
    rows
      .slice(from, from + 3)
      .map((row) => row.slice(4))
      .join(""),
  ).toBe(command);
  expect(rows[from + 3]).toBe("");
  pty.write("n\r");
  await pty.waitFor("All said.");
});
