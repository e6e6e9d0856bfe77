// What models, tools, files and servers say can move nothing on a terminal but text; pipes get it as it came.
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { startPty } from "../helpers/pty.ts";
import { startReplayServer } from "../helpers/replay-server.ts";
import { runCli } from "../helpers/run-cli.ts";
import { tmp } from "../helpers/tmp.ts";
import { openRepl } from "../repl/start-repl.ts";

/** Writes the clipboard, clears the line, forges a verdict, sets the title; then the same in C1, a reordering, and a hidden sentence. */
const evil =
  "\x1b]52;c;ZXZpbA==\x07\x1b[2K\rALL OK\x1b]0;x\x07\x9b2K\x9d0;y\x9c\x1bP+q544e\x1b\\\u202etxt.exe\u2066\u{e0041}";
const forged = /\x1b\]52|\x1b\]0;|\x1b\[2K|\x1bP|\rALL OK|[\x80-\x9f\u202e\u2066]|\u{e0041}/u;
const at = (url: string) => ({ PI_PROVIDER: "openai", OPENAI_API_KEY: "test-key", PI_BASE_URL: url });
const call = (name: string, args: Record<string, unknown>) => ({
  turn: { calls: [{ id: "c1", name, arguments: args }] },
});

test("the REPL shows them in answers, thoughts, calls, results, questions and errors", async () => {
  await using dir = tmp();
  writeFileSync(dir.file("evil.txt"), evil);
  await using server = await startReplayServer([
    call("bash", { command: `printf '%s' '${evil}'; exit 3` }),
    call("read", { path: `no${evil}.txt` }),
    call("write", { path: `/${evil}/x`, content: evil }),
    call(`no${evil}`, { path: evil }),
    { turn: { text: `Said ${evil} so.` } },
    { status: 400, body: JSON.stringify({ error: { message: `refused ${evil}` } }) },
  ]);
  await using repl = await openRepl(server, { cwd: dir.path });
  await repl.ready();
  repl.enter("go");
  await repl.waitFor("[y/N");
  expect(repl.text).toContain("␛]52;c;ZXZpbA==␇␛[2K␍ALL OK␛]0;x␇<U+009B>2K");
  repl.enter("y");
  await repl.waitFor("exit code 3");
  await repl.waitFor("[y/N");
  repl.enter("n");
  await repl.waitFor("Said ␛]52");
  repl.enter("again");
  await repl.waitFor("refused");
  expect(repl.output).not.toMatch(forged);
});

test("a one-shot run on a terminal shows them in answers, calls, questions and errors", async () => {
  await using dir = tmp();
  await using server = await startReplayServer([
    call("bash", { command: `printf '%s' '${evil}'; exit 3` }),
    call("write", { path: `/${evil}/x`, content: evil }),
    { turn: { text: `Said ${evil} so.` } },
  ]);
  await using pty = await startPty(["-p", "go"], { env: at(server.url), cwd: dir.path });
  await pty.waitFor("[y/N");
  pty.write("y\r");
  await pty.waitFor("[y/N");
  pty.write("n\r");
  await pty.waitFor("so.");
  await pty.exited();
  expect(pty.text).toContain("␛]52;c;ZXZpbA==␇␛[2K␍ALL OK␛]0;x␇");
  expect(pty.output).not.toMatch(forged);
});

test("errors from a server and from the command line are shown safely on stderr", async () => {
  await using server = await startReplayServer([{ status: 400, body: JSON.stringify({ error: `refused ${evil}` }) }]);
  const refused = await runCli(["-p", "go"], { env: at(server.url) });
  expect(refused.stderr).toContain("refused");
  expect(refused.stderr).not.toMatch(forged);
  const usage = await runCli(["-p", `--${evil}`, "go"], { env: at(server.url) });
  expect(usage.stderr).toContain("Unknown flag");
  expect(usage.stderr).not.toMatch(forged);
});

test("denials are shown safely on stderr", async () => {
  await using server = await startReplayServer([call("bash", { command: `x${evil}` }), { turn: { text: "ok" } }]);
  const result = await runCli(["-p", "go"], { env: at(server.url) });
  expect(result.stderr).toContain("denied: bash x␛]52");
  expect(result.stderr).not.toMatch(forged);
});

test("a pipe gets the answer as it came", async () => {
  await using server = await startReplayServer([{ turn: { text: `Said ${evil} so.` } }]);
  const result = await runCli(["-p", "go"], { env: at(server.url) });
  expect(result.stdout).toBe(`Said ${evil} so.\n`);
});

test("the list of models and the system prompt are shown safely on a terminal and given to a pipe as they are", async () => {
  await using dir = tmp();
  writeFileSync(dir.file("AGENTS.md"), `Be kind ${evil}`);
  await using server = await startReplayServer(() => ({
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ data: [{ id: `model${evil}` }] }),
  }));
  for (const args of [["models", "--live"], ["--print-system-prompt"]]) {
    const piped = await runCli(args, { env: at(server.url), cwd: dir.path });
    expect(piped.stdout).toContain(evil);
    await using pty = await startPty(args, { env: at(server.url), cwd: dir.path });
    await pty.exited();
    expect(pty.text).toContain("␛]52;c;ZXZpbA==");
    expect(pty.output).not.toMatch(forged);
  }
});
