import { expect, test } from "bun:test";
import { createRecordOutput } from "../../src/modes/records.ts";

/** A stdout whose reader takes what was written only when told to. */
function createReader() {
  const written: string[] = [];
  const failures: string[] = [];
  const flushed = Promise.withResolvers<void>();
  let failure: NodeJS.ErrnoException | undefined;
  const output = createRecordOutput(
    { stdout: (text) => void written.push(text), flush: () => flushed.promise },
    { onFailure: ({ code }) => void failures.push(String(code)), failure: () => failure },
  );
  return {
    output,
    failures,
    records: () =>
      written
        .join("")
        .split("\n")
        .slice(0, -1)
        .map((line) => JSON.parse(line)),
    /** Takes everything, now and from now on. */
    async read() {
      flushed.resolve();
      await output.drain(new Promise(() => {}));
    },
    async leave() {
      failure = Object.assign(new Error("gone"), { code: "EPIPE" });
      flushed.resolve();
      await output.drain(new Promise(() => {}));
    },
    /** Lets the first write begin, which waits for the reader. */
    async begin() {
      output.write({ type: "first" });
      await Promise.resolve();
      await Promise.resolve();
    },
  };
}

const textDelta = (delta: string, contentIndex = 0) => ({
  type: "message_update",
  usage: {},
  assistantMessageEvent: { type: "text_delta", contentIndex, delta },
});
const toolUpdate = (toolCallId: string, text: string) => ({ type: "tool_execution_update", toolCallId, text });

test("records are written in order, one a line, and none is put together for a reader who keeps up", async () => {
  const reader = createReader();
  const records = [{ type: "a" }, textDelta("x"), textDelta("y"), toolUpdate("1", "a"), toolUpdate("1", "b")];
  for (const record of records) reader.output.write(record);
  reader.output.writeLine('{"type":"line"}');
  await reader.read();
  expect(reader.records()).toEqual([...records, { type: "line" }]);
  expect(reader.output.backlog()).toBe(0);
});

test("for a reader who is behind, deltas of one block become one, and of a tool's updates the latest stays", async () => {
  const reader = createReader();
  await reader.begin();
  const { output } = reader;
  for (let i = 0; i < 300; i++) output.write({ type: "filler" });
  expect(output.isBehind()).toBe(true);
  for (const letter of "abc") output.write(textDelta(letter));
  // An answer to a command comes between without parting them.
  output.write({ type: "response" });
  output.write(textDelta("d"));
  output.write(textDelta("e", 1));
  for (const text of ["1", "2", "3"]) output.write(toolUpdate("t", text));
  output.write(toolUpdate("u", "4"));
  output.write({ type: "turn_end" });
  output.write(toolUpdate("u", "5"));
  await reader.read();
  expect(reader.records().filter(({ type }) => type !== "filler")).toEqual([
    { type: "first" },
    textDelta("abcd"),
    { type: "response" },
    textDelta("e", 1),
    toolUpdate("t", "3"),
    toolUpdate("u", "4"),
    { type: "turn_end" },
    toolUpdate("u", "5"),
  ]);
});

test("whoever asks is told when the reader has caught up", async () => {
  const reader = createReader();
  await reader.begin();
  const { output } = reader;
  let isReady = false;
  output.write({ type: "bash_execution_update", delta: "x".repeat(300_000) } as never);
  const ready = output.ready().then(() => {
    isReady = true;
  });
  expect([output.isBehind(), isReady]).toEqual([true, false]);
  await reader.read();
  await ready;
  expect([output.isBehind(), isReady]).toEqual([false, true]);
});

test("after the reader has gone away nothing is kept, and nobody waits", async () => {
  const reader = createReader();
  await reader.begin();
  const { output } = reader;
  for (let i = 0; i < 300; i++) output.write({ type: "filler" });
  await reader.leave();
  output.write({ type: "late" });
  await output.ready();
  expect([output.backlog(), output.isBehind(), reader.failures]).toEqual([0, false, ["EPIPE"]]);
});

test("a reader who does not read keeps the end waiting only so long", async () => {
  const reader = createReader();
  await reader.begin();
  expect(await reader.output.drain(Promise.resolve())).toBe(false);
});
