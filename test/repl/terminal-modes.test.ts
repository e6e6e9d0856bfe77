// The terminal is given back as it was, on every way out.
import { expect, test } from "bun:test";
import type { ShellPty } from "../helpers/pty.ts";
import { startReplayServer } from "../helpers/replay-server.ts";
import { openRepl, openShell } from "./start-repl.ts";

const sleep = `sleep 4322.${process.pid}`;
const sleeping = { turn: { calls: [{ id: "c1", name: "bash", arguments: { command: sleep } }] } };
const prompt = /> \r$/;

async function expectCooked(shell: ShellPty): Promise<void> {
  const words = await shell.stty();
  expect([...words].filter((word) => /^-?(icanon|echo|isig|icrnl|opost)$/.test(word)).sort()).toEqual([
    "echo",
    "icanon",
    "icrnl",
    "isig",
    "opost",
  ]);
}

/** Bracketed paste is off whenever the last word about it was. */
function pasteMode(output: string): string | undefined {
  return output.match(/\x1b\[\?2004[hl]/g)?.at(-1);
}

test("raw while it reads; cooked after /exit", async () => {
  await using server = await startReplayServer([]);
  await using shell = await openShell(server);
  shell.type("{bin}");
  await shell.waitFor(prompt);
  expect(shell.modes()).toEqual({ canonical: false, echo: false, signals: false });
  shell.write("/exit\r");
  expect(await shell.prompt()).toBe(0);
  await expectCooked(shell);
  expect(pasteMode(shell.output)).toBe("\x1b[?2004l");
});

test.each([
  ["SIGTERM", 143],
  ["SIGHUP", 129],
] as const)("%s at the prompt", async (signal, code) => {
  await using server = await startReplayServer([]);
  await using repl = await openRepl(server);
  await repl.ready();
  repl.kill(signal);
  expect(await repl.exited()).toBe(code);
  expect(repl.modes()).toEqual({ canonical: true, echo: true, signals: true });
  expect(pasteMode(repl.output)).toBe("\x1b[?2004l");
});

test("SIGTERM while a tool runs ends the tool too", async () => {
  await using server = await startReplayServer([sleeping]);
  await using repl = await openRepl(server, { args: ["--yolo"] });
  await repl.ready();
  repl.enter("sleep");
  await repl.waitFor(/bash sleep 4322\S* {2}\d s/);
  repl.kill("SIGTERM");
  expect(await repl.exited()).toBe(143);
  expect(repl.modes()).toEqual({ canonical: true, echo: true, signals: true });
  expect(Bun.spawnSync(["pgrep", "-xf", sleep]).exitCode).toBe(1);
});

test("Ctrl-C in the question, then Ctrl-D", async () => {
  await using server = await startReplayServer([sleeping]);
  await using shell = await openShell(server);
  shell.type("{bin}");
  await shell.waitFor(prompt);
  shell.write("sleep\r");
  await shell.waitFor("[y/N");
  shell.write("\x03");
  await shell.waitFor("interrupted");
  await shell.waitFor(prompt);
  shell.write("\x04");
  expect(await shell.prompt()).toBe(0);
  await expectCooked(shell);
  expect(server.requests).toHaveLength(1);
});

test("Ctrl-Z stops it, fg brings it back with what was typed", async () => {
  await using server = await startReplayServer([]);
  await using shell = await openShell(server);
  shell.type("{bin}");
  await shell.waitFor(prompt);
  shell.write("half");
  await shell.waitFor("> half");
  shell.write("\x1a");
  await shell.prompt();
  await expectCooked(shell);
  shell.type("fg");
  await shell.waitFor("> half");
  expect(shell.modes().canonical).toBe(false);
  shell.write("\x15/exit\r");
  expect(await shell.prompt()).toBe(0);
  await expectCooked(shell);
});

test("after a SIGSTOP, which it cannot see coming, fg makes the terminal raw again", async () => {
  await using server = await startReplayServer([]);
  await using shell = await openShell(server);
  shell.type("{bin}");
  await shell.waitFor(prompt);
  process.kill(Number(Bun.spawnSync(["pgrep", "-P", `${shell.pid}`]).stdout.toString()), "SIGSTOP");
  await shell.prompt();
  shell.type("fg");
  await shell.waitFor(prompt);
  expect(shell.modes()).toEqual({ canonical: false, echo: false, signals: false });
  shell.write("/exit\r");
  expect(await shell.prompt()).toBe(0);
  await expectCooked(shell);
});

test("started in the background it waits for fg", async () => {
  await using server = await startReplayServer([]);
  await using shell = await openShell(server);
  shell.type("{bin} & wait -n");
  await shell.prompt();
  shell.type("fg");
  await shell.waitFor(prompt);
  shell.write("/exit\r");
  expect(await shell.prompt()).toBe(0);
  await expectCooked(shell);
});

test("Ctrl-Z while a tool runs; Ctrl-C after fg ends it", async () => {
  await using server = await startReplayServer([sleeping]);
  await using shell = await openShell(server);
  shell.type("{bin} --yolo");
  await shell.waitFor(prompt);
  shell.write("sleep\r");
  await shell.waitFor(/bash sleep 4322\S* {2}\d s/);
  shell.write("\x1a");
  await shell.prompt();
  await expectCooked(shell);
  shell.type("fg");
  await shell.waitFor(/bash sleep 4322\S* {2}\d s/);
  shell.write("\x03");
  await shell.waitFor("interrupted");
  await shell.waitFor(prompt);
  shell.write("\x04");
  expect(await shell.prompt()).toBe(0);
});

test("SIGINT from outside is like Ctrl-C", async () => {
  await using server = await startReplayServer(["silent"]);
  await using repl = await openRepl(server);
  await repl.ready();
  repl.enter("hello");
  await server.request(0);
  repl.kill("SIGINT");
  await repl.waitFor("interrupted");
  await repl.lastRow("> hello");
});
