// The compiled binary and streams that go wrong, over both wire APIs: nothing half-done runs or is taken for an answer, and nothing hangs.
import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { type Answer, type Reply, type Script, startReplayServer } from "../helpers/replay-server.ts";
import { runCli, startCli } from "../helpers/run-cli.ts";
import { tmp } from "../helpers/tmp.ts";
import { reach, wires } from "../helpers/wire.ts";

const ok: Reply = { turn: { text: "ok" } };

describe.each(wires)("$name", (wire) => {
  /** One task in a folder that holds the files `1` and `2`. */
  async function run(script: Script, args: readonly string[] = [], env: Record<string, string> = {}) {
    await using dir = tmp();
    for (const name of ["1", "2"]) writeFileSync(dir.file(name), `file ${name}\n`);
    await using server = await startReplayServer(script);
    const flags = ["-p", "--yolo", ...args, "go"];
    const { code, stdout, stderr } = await runCli(flags, {
      env: { ...reach(wire, server.url), ...env },
      cwd: dir.path,
    });
    expect(server.problems).toEqual([]);
    const readme = existsSync(dir.file("README.md")) ? readFileSync(dir.file("README.md"), "utf8") : undefined;
    return { code, stdout, stderr, readme, outlines: server.requests.map(({ body }) => wire.outline(body)) };
  }

  test.each<[string, Partial<Answer>]>([
    ["body", {}],
    ["connection", { framing: "close" }],
  ])("a clean end of the %s in mid-answer gives 1, and the half call does not run", async (_name, how) => {
    const { code, stdout, stderr } = await run([{ body: wire.half, ...how }], ["--max-retries", "0"]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain("one two");
    expect(stderr).toContain("The connection closed in the middle of the answer");
    expect(stderr).not.toContain("→ bash");
  });

  test("a clean end in mid-answer is asked again, and only the whole answer reaches stdout", async () => {
    const { code, stdout, stderr } = await run([{ body: wire.half }, ok]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: "ok\n" });
    expect(stderr).toMatch(/trying again in .* \(1 of 3\)/);
  });

  test("an error inside a 200 gives 1 with the provider's words", async () => {
    const { code, stdout, stderr } = await run([{ body: [wire.error("invalid_request_error", "the model is gone")] }]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain("the model is gone");
  });

  test("an overload inside a 200, behind half an answer, is asked again", async () => {
    const overloaded = wire.error("overloaded_error", "Overloaded, try again in 0 s");
    const { code, stdout, stderr } = await run([{ body: [...wire.half, overloaded] }, ok]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: "ok\n" });
    expect(stderr).toContain("Overloaded");
    expect(stderr).not.toContain("→ bash");
  });

  test("parallel calls with one index both run, each with its own arguments", async () => {
    const { code, stdout, outlines } = await run([{ body: wire.oneIndex }, ok]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: "ok\n" });
    expect(outlines[1]).toEqual(["user go", "assistant +a +b", "result a      1\tfile 1", "result b      1\tfile 2"]);
  });

  const cutWrite = (finish: string): Reply => ({
    turn: { calls: [{ id: "w", name: "write", arguments: '{"path":"README.md","content":"# a' }], finish },
  });

  test.each(["length", "tool_calls"])("a call cut by the output limit under '%s' writes nothing", async (finish) => {
    const { code, stdout, readme, outlines } = await run([cutWrite(finish), ok]);
    expect({ code, stdout, readme }).toEqual({ code: 0, stdout: "ok\n", readme: undefined });
    expect(outlines[1]?.at(-1)).toMatch(/^result w Error: not run: .*output limit cut this call off/);
  });

  test("a call cut by the output limit again and again ends the run", async () => {
    const { code, stdout, stderr, readme, outlines } = await run(() => cutWrite("length"));
    expect({ code, stdout, readme, asked: outlines.length }).toEqual({
      code: 1,
      stdout: "",
      readme: undefined,
      asked: 3,
    });
    expect(stderr).toContain("cut off the model's tool calls 3 times in a row");
    expect(stderr).toContain("--max-tokens");
  });

  test("a text cut by the output limit is the answer as far as it goes, and the exit code says that it is not whole", async () => {
    const { code, stdout, stderr } = await run([{ turn: { text: "half a", finish: "length" } }]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "half a\n" });
    expect(stderr).toContain("cut the answer off");
  });

  test("the words beside calls that are cut again and again are no answer", async () => {
    const call = { id: "w", name: "write", arguments: '{"path":"README.md","content":"# a' };
    const { code, stdout, stderr } = await run(() => ({ turn: { text: "I write.", calls: [call], finish: "length" } }));
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain("I write.");
  });

  const silences: [string, Reply, string, Record<string, string>][] = [
    ["before the headers", "silent", "did not begin to answer within 0.1 s", { PI_FIRST_BYTE_TIMEOUT: "0.1" }],
    [
      "behind the first word",
      { body: wire.firstWord, ending: "silent" },
      "sent nothing for 0.1 s",
      { PI_IDLE_TIMEOUT: "0.1" },
    ],
  ];

  test.each(silences)("silence %s is an error after the limit", async (_name, reply, words, limit) => {
    const { code, stdout, stderr } = await run([reply], ["--max-retries", "0"], limit);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain(words);
  });

  test("silence is asked again", async () => {
    const silent: Reply = { body: wire.firstWord, ending: "silent" };
    const { code, stdout } = await run([silent, ok], [], { PI_IDLE_TIMEOUT: "0.5" });
    expect({ code, stdout }).toEqual({ code: 0, stdout: "ok\n" });
  });

  test.each(silences)("an interrupt ends silence %s at once and closes the connection", async (_name, reply) => {
    await using server = await startReplayServer([reply]);
    await using cli = startCli(["-p", "go"], { env: reach(wire, server.url) });
    const request = await server.request(0);
    cli.kill("SIGINT");
    expect(await cli.exited).toMatchObject({ code: 130, stdout: "" });
    await request.closed;
  });
});
