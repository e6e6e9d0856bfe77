// The examples, run with Bun as they stand here; test/package runs them with Node and with the package. And the one in docs/rpc.md.
import { expect, setDefaultTimeout, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { startObedientModel } from "../helpers/obedient-model.ts";
import { readmeBlocks } from "../helpers/readme.ts";
import { gate, refusal, startReplayServer } from "../helpers/replay-server.ts";
import { runExample } from "../helpers/run-example.ts";

setDefaultTimeout(20_000);

const example = (name: string) => [process.execPath, join(import.meta.dir, `${name}.ts`)];

test("stream-answer prints the answer, names the tools that ran and tells the usage", async () => {
  await using server = await startObedientModel();
  await using run = await runExample(example("stream-answer"), ['ls {"path":"."}'], server);
  expect(run.stderr).toBe('[ls] {"path":"."}\n2000 tokens in, 200 out, $0.0000\n');
  expect(run.stdout).toContain("empty");
  expect(run.code).toBe(0);
});

test("stream-answer shows an answer as far as it came, says why it is not whole, and fails", async () => {
  await using server = await startReplayServer([{ turn: { text: "Half an", finish: "length" } }]);
  await using run = await runExample(example("stream-answer"), ["hi"], server);
  expect(run.stdout).toBe("Half an\n");
  expect(run.stderr).toContain("output_limit: ");
  expect(run.code).toBe(1);
});

const touch = 'bash {"command":"echo made > made.txt; echo ran"}';

test.each([
  ["y\n", true],
  ["n\n", false],
  ["", false],
])("approve-tool-calls shows the command, and with %j on stdin it runs: %p", async (stdin, allowed) => {
  await using server = await startObedientModel();
  await using run = await runExample(example("approve-tool-calls"), [touch], server, stdin);
  expect(run.stderr).toContain("echo made > made.txt; echo ran\n\ny/N? ");
  expect(run.stderr).toContain(allowed ? "[bash] done" : "[bash] has failed, or was not allowed");
  expect(existsSync(join(run.cwd, "made.txt"))).toBe(allowed);
  expect(run.stdout.includes("ran\n")).toBe(allowed);
  expect(run.code).toBe(0);
});

const python = Bun.which("python3");
if (!python) console.log("the client in docs/rpc.md is not tried: there is no python3");

test.skipIf(!python)("the client in docs/rpc.md asks, runs what it may, and ends as the agent does", async () => {
  const [client = ""] = readmeBlocks("## A small client", "python", "docs/rpc.md");
  const program = [python ?? "", "-c", client];
  await using server = await startObedientModel();
  await using run = await runExample(program, [touch], server, "y\n");
  expect(run.stdout).toContain("Run this command? (it runs a command)\necho made > made.txt; echo ran\ny/N? ");
  expect(run.stdout).toContain("ran\n");
  expect(existsSync(join(run.cwd, "made.txt"))).toBe(true);
  expect({ stderr: run.stderr, code: run.code }).toEqual({ stderr: "", code: 0 });

  await using failing = await startReplayServer([refusal(400, { error: { message: "bad thing" } })]);
  await using failed = await runExample(program, ["hi"], failing);
  expect(failed.stdout).toContain("bad thing");
  expect(failed.code).toBe(1);
});

test("two-agents has both at work at the same time, and tells both answers", async () => {
  const both = gate();
  let asked = 0;
  await using server = await startReplayServer(async ({ body }) => {
    if (++asked === 2) both.open();
    await both.opened;
    return { turn: { text: `I am ${body.model}.` } };
  });
  await using run = await runExample(example("two-agents"), ["mock/hello", "mock/think", "Who are you?"], server);
  expect(run.stderr).toBe("");
  expect(run.stdout).toBe("## mock/hello\n\nI am hello.\n\n## mock/think\n\nI am think.\n\n");
  expect(run.code).toBe(0);
});

test("two-agents tells the answer of one when the other cannot be had", async () => {
  await using server = await startObedientModel();
  await using run = await runExample(
    example("two-agents"),
    ["mock/hello", "anthropic/claude-sonnet-5-5", "hi"],
    server,
  );
  expect(run.stdout).toContain("## mock/hello\n\nYou said: hi\n");
  expect(run.stdout).toContain("## anthropic/claude-sonnet-5-5\n\n(no answer: ");
  expect(run.code).toBe(1);
});
