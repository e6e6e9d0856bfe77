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

test("what was typed before the question does not answer it", async () => {
  await using dir = tmp();
  const { opened, open } = gate();
  const call = toolCallDeltas({ name: "bash", arguments: { command: "touch made" } });
  const body = [textDelta("Wait. "), opened, ...call, finish("tool_calls"), done];
  await using server = await startReplayServer([{ body }, answer]);
  await using pty = await startPty(["-p", "go"], { env: at(server.url), cwd: dir.path });
  await pty.waitFor("Wait.");
  pty.write("y\r");
  // The terminal's echo shows that the line is there to be read.
  await pty.waitFor("y");
  open();
  await pty.waitFor("[y/N/a or why not] ");
  pty.write("n\r");
  await pty.waitFor("All said.");
  expect(existsSync(dir.file("made"))).toBe(false);
});
