// RPC mode: the gate's questions over the wire.
import { expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import type { Reply } from "../helpers/replay-server.ts";
import { connect, type RpcClient, type RpcRecord } from "../helpers/rpc-client.ts";
import { tmp } from "../helpers/tmp.ts";

const calls = (...commands: string[]): Reply => ({
  turn: { calls: commands.map((command, i) => ({ id: `c${i}`, name: "bash", arguments: { command } })) },
});
const hello: Reply = { turn: { text: "Hello." } };

function answer(rpc: RpcClient, { id }: RpcRecord, fields: object): void {
  rpc.write(JSON.stringify({ type: "extension_ui_response", id, ...fields }));
}

/** The next question. */
function question(rpc: RpcClient, from = 0): Promise<RpcRecord> {
  return rpc.wait("extension_ui_request", from);
}

const result = (rpc: RpcClient) => rpc.records.findLast(({ type }) => type === "tool_execution_end");

test("a command is asked for whole, and runs after a yes", async () => {
  const command = `echo first\n# ${"long ".repeat(500)}\necho last`;
  await using setup = await connect([calls(command), hello], {}, []);
  const { rpc } = setup;
  await rpc.ask("prompt", { message: "hi" });
  const asked = await question(rpc);
  const { id, ...fields } = asked;
  expect(fields).toEqual({
    type: "extension_ui_request",
    method: "confirm",
    title: "Run this command? (it runs a command)",
    message: command,
  });
  expect(await rpc.ask("get_state")).toMatchObject({ isStreaming: true });
  expect(typeof id).toBe("string");
  answer(rpc, asked, { confirmed: true });
  await rpc.wait("agent_settled");
  expect(JSON.stringify(result(rpc))).toContain("first\\nlast");
});

test("an edit outside is asked for with its diff and the real path", async () => {
  await using outside = tmp();
  writeFileSync(outside.file("a.txt"), "old\n");
  const args = { path: outside.file("a.txt"), content: "new\n" };
  const reads: Reply = { turn: { calls: [{ id: "w", name: "write", arguments: args }] } };
  await using setup = await connect([reads, hello], {}, []);
  const { rpc } = setup;
  await rpc.ask("prompt", { message: "hi" });
  const { id, title, message } = await question(rpc);
  expect(title).toContain(`outside the working directory: ${outside.file("a.txt")}`);
  expect(message).toContain("+new");
  rpc.write(JSON.stringify({ type: "extension_ui_response", id, confirmed: false }));
  await rpc.wait("agent_settled");
  expect(result(rpc)).toMatchObject({ isError: true });
});

test.each([
  ["write", { content: "new\n" }],
  ["edit", { old_string: "old", new_string: "new" }],
  ["read", {}],
] as const)("a link that is put elsewhere after the question is not followed: %s", async (name, args) => {
  await using outside = tmp();
  for (const folder of ["shown", "other"]) mkdirSync(outside.file(folder));
  writeFileSync(outside.file("shown/a.txt"), "old\n");
  writeFileSync(outside.file("other/a.txt"), "old and secret\n");
  symlinkSync("shown", outside.file("link"));
  const call = { id: "c", name, arguments: { path: outside.file("link/a.txt"), ...args } };
  await using setup = await connect([{ turn: { calls: [call] } }, hello], {}, []);
  const { rpc } = setup;
  await rpc.ask("prompt", { message: "hi" });
  const asked = await question(rpc);
  rmSync(outside.file("link"));
  symlinkSync("other", outside.file("link"));
  answer(rpc, asked, { confirmed: true });
  await rpc.wait("agent_settled");
  expect(JSON.stringify(result(rpc))).toContain("changed on disk while the user was asked");
  expect(readFileSync(outside.file("other/a.txt"), "utf8")).toBe("old and secret\n");
});

test.each([
  ["write", { content: "new\n" }],
  ["edit", { old_string: "old", new_string: "new" }],
] as const)("a file that changes after its diff was shown is left as it is: %s", async (name, args) => {
  await using outside = tmp();
  const path = outside.file("a.txt");
  writeFileSync(path, "old\n");
  await using setup = await connect(
    [{ turn: { calls: [{ id: "c", name, arguments: { path, ...args } }] } }, hello],
    {},
    [],
  );
  const { rpc } = setup;
  await rpc.ask("prompt", { message: "hi" });
  const asked = await question(rpc);
  writeFileSync(path, "somebody's old work\n");
  answer(rpc, asked, { confirmed: true });
  await rpc.wait("agent_settled");
  expect(JSON.stringify(result(rpc))).toContain("changed on disk while the user was asked");
  expect(readFileSync(path, "utf8")).toBe("somebody's old work\n");
});

test("of an edit outside that would fail the user is told why, and the model only after a yes", async () => {
  await using outside = tmp();
  writeFileSync(outside.file("a.txt"), "colour = red\n");
  const args = { path: outside.file("a.txt"), old_string: "color = red", new_string: "x" };
  await using setup = await connect([{ turn: { calls: [{ id: "c", name: "edit", arguments: args }] } }, hello], {}, []);
  const { rpc } = setup;
  await rpc.ask("prompt", { message: "hi" });
  const asked = await question(rpc);
  expect(asked.message).toContain("it would fail: old_string is not in");
  answer(rpc, asked, { confirmed: true });
  await rpc.wait("agent_settled");
  expect(JSON.stringify(result(rpc))).toContain("colour = red");
});

test.each([
  ["no", { confirmed: false }],
  ["cancelled", { cancelled: true }],
  ["a yes that is cancelled", { confirmed: true, cancelled: true }],
  ["a value that a confirm does not have", { value: "yes" }],
])("%s is a no, and the model is told", async (_name, fields) => {
  await using setup = await connect([calls("touch ran"), hello], {}, []);
  const { rpc } = setup;
  await rpc.ask("prompt", { message: "hi" });
  answer(rpc, await question(rpc), fields);
  const settled = await rpc.wait("agent_settled");
  expect(settled).toMatchObject({ deniedCalls: [{ toolCallId: "c0", summary: "touch ran" }] });
  expect(existsSync(`${rpc.cwd}/ran`)).toBe(false);
  expect(JSON.stringify(setup.server.requests[1]?.body.messages.at(-1))).toContain("did not approve");
});

test("each answer belongs to the question with its id; others are ignored, wrong ones told", async () => {
  await using setup = await connect([calls("echo one", "echo two"), hello], {}, []);
  const { rpc } = setup;
  await rpc.ask("prompt", { message: "hi" });
  const one = await question(rpc);
  answer(rpc, { type: "", id: "another" }, { confirmed: true });
  answer(rpc, one, { confirmed: "yes" });
  const told = await rpc.wait(({ command }) => command === "extension_ui_response");
  expect(told).toMatchObject({ id: one.id, success: false, error: "'confirmed' must be true or false" });
  const from = rpc.records.length;
  answer(rpc, one, { confirmed: true });
  const two = await question(rpc, from);
  expect(two.id).not.toBe(one.id);
  // The first question is answered; its id counts for nothing any more.
  answer(rpc, one, { confirmed: true });
  answer(rpc, two, { confirmed: false });
  const settled = await rpc.wait("agent_settled");
  expect(settled).toMatchObject({ deniedCalls: [{ toolCallId: "c1" }] });
});

test("--approval select also offers a yes for the session", async () => {
  await using setup = await connect([calls("echo one"), calls("echo one"), hello], {}, ["--approval", "select"]);
  const { rpc } = setup;
  await rpc.ask("prompt", { message: "hi" });
  const { id, method, title, options } = await question(rpc);
  expect([method, options]).toEqual(["select", ["Allow once", "Allow for this session: this exact command", "Deny"]]);
  expect(title).toContain("echo one");
  rpc.write(JSON.stringify({ type: "extension_ui_response", id, value: (options as string[])[1] }));
  await rpc.wait("agent_settled");
  expect(rpc.records.filter(({ type }) => type === "extension_ui_request")).toHaveLength(1);
  expect(rpc.records.filter(({ type }) => type === "tool_execution_end").map(({ isError }) => isError)).toEqual([
    false,
    false,
  ]);
});

test("a question that nobody answers in time is a no", async () => {
  await using setup = await connect([calls("touch ran"), hello], {}, ["--approval-timeout", "0.05"]);
  const { rpc } = setup;
  await rpc.ask("prompt", { message: "hi" });
  expect((await question(rpc)).timeout).toBe(50);
  await rpc.wait("agent_settled");
  expect(result(rpc)).toMatchObject({ isError: true, result: { details: { denied: true, by: "nobody" } } });
  expect(JSON.stringify(result(rpc))).toContain("did not answer in time");
  expect(existsSync(`${rpc.cwd}/ran`)).toBe(false);
});

test("stdin's end is a no, also to what is asked afterwards", async () => {
  await using setup = await connect([calls("touch one", "touch two"), hello], {}, []);
  const { rpc } = setup;
  await rpc.ask("prompt", { message: "hi" });
  await question(rpc);
  rpc.end();
  expect(await rpc.exited).toBe(0);
  expect(rpc.records.at(-1)).toMatchObject({
    type: "agent_settled",
    deniedCalls: [{ toolCallId: "c0" }, { toolCallId: "c1" }],
  });
  expect(rpc.records.filter(({ type }) => type === "extension_ui_request")).toHaveLength(1);
});

test("an abort ends the question", async () => {
  await using setup = await connect([calls("touch ran")], {}, []);
  const { rpc } = setup;
  await rpc.ask("prompt", { message: "hi" });
  const asked = await question(rpc);
  await rpc.ask("abort");
  answer(rpc, asked, { confirmed: true });
  await rpc.ask("get_state");
  expect(existsSync(`${rpc.cwd}/ran`)).toBe(false);
  expect(rpc.records.filter(({ type }) => type === "agent_settled")).toEqual([
    { type: "agent_settled", aborted: true },
  ]);
});
