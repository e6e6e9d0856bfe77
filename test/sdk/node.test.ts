// The client under Node: what depends on the runtime's own processes and streams, as a bundle that Node runs.
import { expect, test } from "bun:test";
import { join } from "node:path";
import { fakeAgent } from "../helpers/fake-client.ts";
import { tmp } from "../helpers/tmp.ts";

const node = Bun.which("node");
const version = node ? Number(/v(\d+)/.exec(Bun.spawnSync([node, "--version"]).stdout.toString())?.[1]) : 0;
/** Without a Node of at least 20 there is nothing to test. */
const onNode = version >= 20 ? test : test.skip;

/** Runs the body of an async function of `sdk` (the package) and `fake` (starts a client), and gives what it returns. */
async function runInNode(body: string): Promise<unknown> {
  await using dir = tmp();
  const index = join(import.meta.dir, "../../src/index.ts");
  const built = await Bun.build({
    entrypoints: [index],
    outdir: dir.path,
    target: "node",
    format: "esm",
    naming: "sdk.mjs",
  });
  expect(built.success).toBe(true);
  const program = `import * as sdk from "./sdk.mjs";
const [interpreter, program] = ${JSON.stringify(fakeAgent("").slice(0, 2))};
const fake = (behaviour, detail = "", options = {}) =>
  sdk.AgentClient.start({ command: [interpreter, program, behaviour, detail], ...options });
const failureOf = (promise) => promise.then(() => "none", ({ name, code, exitCode, signal, stderr }) => ({ name, code, exitCode, signal, stderr }));
const result = await (async () => { ${body} })();
console.log(JSON.stringify(result ?? null));`;
  await Bun.write(dir.file("program.mjs"), program);
  const child = Bun.spawn([node as string, dir.file("program.mjs")], {
    stdout: "pipe",
    stderr: "pipe",
    timeout: 20_000,
  });
  const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  expect({ err, code }).toEqual({ err: "", code: 0 });
  return JSON.parse(out);
}

onNode("commands, runs and the end of the process", async () => {
  const result = await runInNode(`
    const client = await fake("well");
    const events = [];
    const run = client.run("hello é 😀");
    for await (const { type } of run) events.push(type);
    const text = await run.text();
    const refused = await failureOf(client.raw({ type: "fly" }));
    await client.close();
    return { events, text, refused, once: (await sdk.runOnce("x", { command: [interpreter, program, "once", ""] })).exitCode };`);
  expect(result).toMatchObject({
    events: ["agent_start", "message_end", "message_update", "message_end", "agent_settled"],
    text: "hello é 😀",
    refused: { name: "CommandError", code: "command" },
    once: 0,
  });
});

onNode("everything that was written before a death, and then the error", async () => {
  const result = await runInNode(`
    const results = [];
    for (const [behaviour, detail] of [["die", ""], ["die-held", ""], ["die-held", "detached"]]) {
      const client = await fake(behaviour, detail);
      const waiting = failureOf(client.raw({ type: "a" }));
      let events = 0;
      const error = await failureOf((async () => { for await (const event of client.run("x")) events++; })());
      results.push({ events, error, waiting: (await waiting).name });
      await client.close();
    }
    return results;`);
  const error = {
    name: "ExitError",
    code: "exit",
    exitCode: null,
    signal: "SIGKILL",
    stderr: "it is over\nkilled by itself\n",
  };
  expect(result).toEqual(Array.from({ length: 3 }, () => ({ events: 201, error, waiting: "ExitError" })));
});

onNode("one signal for many calls is no leak", async () => {
  const result = await runInNode(`
    const client = await fake("well");
    const stop = new AbortController();
    const { signal } = stop;
    await Promise.all(Array.from({ length: 20 }, () => client.getState({ signal })));
    const waiting = Array.from({ length: 20 }, () => failureOf(client.bash("x", { signal })));
    stop.abort();
    const names = (await Promise.all(waiting)).map(({ name }) => name);
    await client.close();
    return [...new Set(names)];`);
  expect(result).toEqual(["AbortedError"]);
});

onNode("an agent that can no longer be written to is ended, and what waits is told", async () => {
  const result = await runInNode(`
    const client = await fake("deaf");
    const sending = setInterval(() => client.raw({ type: "y" }).catch(() => {}), 20);
    const error = await failureOf(client.raw({ type: "x" }));
    clearInterval(sending);
    return error;`);
  expect(result).toMatchObject({ name: "ExitError", signal: "SIGTERM" });
});

onNode("programs that cannot be started", async () => {
  const result = await runInNode(`
    return Promise.all([{ command: "no-such-agent" }, { command: program }, { cwd: "/no/such" }, { command: [] }].map((options) =>
      sdk.AgentClient.start(options).catch((error) => error.name + ": " + error.message)));`);
  expect(result).toEqual([
    "SpawnError: no-such-agent could not be started: there is no such program",
    expect.stringContaining("could not be started: it may not be run"),
    "SpawnError: pi-ts could not be started: there is no folder /no/such",
    expect.stringContaining("SpawnError: The agent could not be started"),
  ]);
});

onNode("a loop that does not take events keeps the agent waiting, and commands are answered all the same", async () => {
  const result = await runInNode(`
    const client = await fake("flood", "", { maxUnreadBytes: 200_000 });
    const loop = client.run("x")[Symbol.asyncIterator]();
    let heard = 0;
    client.subscribe(() => heard++);
    await loop.next();
    // As long as anything comes in; then the agent waits.
    for (let before = -1; before !== heard; ) {
      before = heard;
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
    const standstill = heard;
    const { messageCount } = await client.getState();
    for (let i = 0; i < 2000; i++) await loop.next();
    await client.close();
    return { standstill, messageCount };`);
  const { standstill, messageCount } = result as { standstill: number; messageCount: number };
  expect(messageCount).toBe(1);
  // Each is about 1.2 kB, and what was read before the pause is taken too.
  expect(standstill).toBeGreaterThan(100);
  expect(standstill).toBeLessThan(1000);
});
