// `--output-schema` of the compiled binary: stdout is JSON that is valid, or there is none and the exit code says so.
import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { startPty } from "../helpers/pty.ts";
import { type Reply, type Script, startReplayServer } from "../helpers/replay-server.ts";
import { runCli } from "../helpers/run-cli.ts";
import { tmp } from "../helpers/tmp.ts";

const schema = { type: "object", properties: { files: { type: "integer" } }, required: ["files"] };
const flag = `--output-schema=${JSON.stringify(schema)}`;
const say = (text: string): Reply => ({ turn: { text } });
const ls: Reply = { turn: { text: "Let me look.", calls: [{ id: "c1", name: "ls", arguments: {} }] } };

const providers = {
  openai: (url: string) => ({ PI_PROVIDER: "openai", OPENAI_API_KEY: "sk-test-0123456789abcdef", PI_BASE_URL: url }),
  anthropic: (url: string) => ({ PI_PROVIDER: "anthropic", ANTHROPIC_API_KEY: "sk-test-0123456789", PI_BASE_URL: url }),
};

async function run(script: Script, args: readonly string[], provider: keyof typeof providers = "openai") {
  await using server = await startReplayServer(script);
  const result = await runCli(args, { env: providers[provider](server.url) });
  expect(server.problems).toEqual([]);
  return { ...result, requests: server.requests };
}

describe.each(["openai", "anthropic"] as const)("with %s", (provider) => {
  test("the model is told the schema, works with tools, and stdout is the JSON alone", async () => {
    const { stdout, code, requests } = await run(
      [ls, say('```json\n{"files": 3}\n```')],
      ["-p", flag, "count"],
      provider,
    );
    expect([stdout, code]).toEqual(['{"files": 3}\n', 0]);
    expect(JSON.stringify(requests[0]?.body)).toContain("valid against this JSON Schema");
    expect(JSON.stringify(requests[0]?.body)).toContain(JSON.stringify(JSON.stringify(schema)).slice(1, -1));
  });

  test("an answer that fails goes back with what is wrong, and the next one counts", async () => {
    const script = [say("There are 3."), ls, say('{"files":"3"}'), say('{"files":3}')];
    const { stdout, stderr, code, requests } = await run(script, ["-p", flag, "count"], provider);
    expect([stdout, code]).toEqual(['{"files":3}\n', 0]);
    const said = requests.map(({ body }) => JSON.stringify(body.messages.at(-1)));
    expect(said[1]).toContain("It is not JSON");
    expect(said[3]).toContain("At /files");
    expect(stderr).not.toContain("There are 3.");
  });
});

test("after two rounds of that it is an error, and stdout is empty", async () => {
  const script = [say("one"), say("two"), say("three"), say('{"files":3}')];
  const { stdout, stderr, code, requests } = await run(script, ["-p", flag, "count"]);
  expect([stdout, code, requests.length]).toEqual(["", 1, 3]);
  expect(stderr).toContain("The answer is still not what --output-schema asks for");
  expect(stderr).toContain("The last answer, not valid:\nthree");
  expect(stderr).not.toContain("Answer again");
});

test("an empty answer goes back too", async () => {
  const { stdout, code, requests } = await run([say(""), say('{"files":3}')], ["-p", flag, "count"]);
  expect([stdout, code]).toEqual(['{"files":3}\n', 0]);
  expect(requests[1]?.body.messages.at(-1).content).toContain("It is not JSON");
});

test("a denied call with --fail-on-denied leaves the value in the verdict", async () => {
  const bash: Reply = { turn: { calls: [{ id: "c1", name: "bash", arguments: { command: "true" } }] } };
  const args = ["--mode", "json", "--fail-on-denied", flag, "count"];
  const { stdout, code } = await run([bash, say('{"files":3}')], args);
  const { result } = JSON.parse(stdout.trimEnd().split("\n").at(-1) ?? "");
  expect(result).toMatchObject({ status: "error", reason: { code: "denied" }, output: { files: 3 } });
  expect(code).toBe(1);
});

test("JSON mode's last record and the result file have the value", async () => {
  await using dir = tmp();
  await using server = await startReplayServer([say("no"), say('{"files":3}')]);
  writeFileSync(dir.file("schema.json"), JSON.stringify(schema));
  const args = ["--mode", "json", "--output-schema", "schema.json", "--result", "result.json", "count"];
  const { stdout, code } = await runCli(args, { cwd: dir.path, env: providers.openai(server.url) });
  const records = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(code).toBe(0);
  expect(records.filter(({ type }) => type === "agent_settled")).toHaveLength(1);
  expect(records.at(-1).result).toMatchObject({ status: "done", text: '{"files":3}', output: { files: 3 }, turns: 2 });
  const result = await Bun.file(dir.file("result.json")).json();
  expect(result).toMatchObject({ status: "done", text: '{"files":3}', output: { files: 3 } });
});

test("an answer that the output limit cut off is none", async () => {
  const cut: Reply = { turn: { text: '{"files":3}', finish: "length" } };
  const { stdout, code } = await run([cut], ["-p", flag, "count"]);
  expect([stdout, code]).toEqual(["", 1]);
});

test("the turn limit holds for the further rounds too", async () => {
  const { stdout, stderr, code, requests } = await run(
    [say("one"), say("two")],
    ["-p", flag, "--max-turns", "1", "count"],
  );
  expect([stdout, code, requests.length]).toEqual(["", 1, 1]);
  expect(stderr).toContain("the turn limit is reached");
});

test("on a terminal, too, only the JSON is shown", async () => {
  await using server = await startReplayServer([say("wrong words"), say('{"files":3}')]);
  await using pty = await startPty(["-p", "--quiet", flag, "count"], { env: providers.openai(server.url) });
  await pty.waitFor('{"files":3}');
  expect(await pty.exited()).toBe(0);
  expect(pty.text).not.toContain("wrong words");
});

test("on a terminal what could take hold of it is escaped, and stays the same JSON", async () => {
  const value = { "\u009b2J": "\u202eab\u{e0041}", name: "Zoë 👍🏽" };
  await using server = await startReplayServer([say(JSON.stringify(value))]);
  const args = ["-p", "--quiet", "--output-schema", "{}", "count"];
  await using pty = await startPty(args, { env: providers.openai(server.url) });
  expect(await pty.exited()).toBe(0);
  expect(pty.output).toBe('{"\\u009b2J":"\\u202eab\\udb40\\udc41","name":"Zoë 👍🏽"}\r\n');
  expect(JSON.parse(pty.output)).toEqual(value);
});

test("a schema's file may begin with a byte order mark", async () => {
  await using dir = tmp();
  writeFileSync(dir.file("schema.json"), `\ufeff${JSON.stringify(schema)}`);
  const { stdout } = await run([say('{"files":3}')], ["-p", "--output-schema", dir.file("schema.json"), "count"]);
  expect(stdout).toBe('{"files":3}\n');
});

test("an answer that is nested too deeply to be checked is refused as any other", async () => {
  const deep = say("[".repeat(200_000) + "]".repeat(200_000));
  const args = ["-p", "--output-schema", '{"type":"array","items":{"$ref":"#"}}', "count"];
  const { stdout, code, requests } = await run([deep, say("[[]]")], args);
  expect([stdout, code]).toEqual(["[[]]\n", 0]);
  expect(requests[1]?.text).toContain("nested too deeply");
});

test("the REPL has no such answer", async () => {
  await using pty = await startPty([flag], { env: providers.openai("http://127.0.0.1:9") });
  await pty.waitFor("--output-schema is for runs of one task");
  expect(await pty.exited()).toBe(2);
});

test.each([
  ['{"type":"objekt"}', '/type cannot be "objekt"'],
  ['{"properties":{"a/b":{"pattern":"("}}}', "/properties/a~1b/pattern: Invalid regular expression: missing )"],
  ['{"items":{"patternProperties":{"[":true}}}', "/items/patternProperties: Invalid regular expression"],
  ['{"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}},"$ref":"#/$defs/a"}', "references lead in a circle"],
  ["nowhere.json", "Cannot read the output schema"],
])("%s is a usage error before anything is sent", async (value, why) => {
  const { stderr, code, requests } = await run([], ["-p", "--output-schema", value, "count"]);
  expect(stderr).toContain(why);
  expect([code, requests.length]).toEqual([2, 0]);
});
