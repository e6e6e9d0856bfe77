// The limit on silence, with a clock of the test's own: what counts as life, and that no limit means none.
import { afterEach, beforeEach, expect, jest, test } from "bun:test";
import type { Body } from "../../src/providers/body.ts";
import { readSse } from "../../src/providers/sse.ts";

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

/** A body fed by hand, and the events and the end of reading it. */
function open(idleMs: number) {
  let source: ReadableStreamDefaultController<Uint8Array> | undefined;
  let cancelled = false;
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      source = controller;
    },
    cancel: () => {
      cancelled = true;
    },
  });
  const events: string[] = [];
  let end: unknown = "open";
  const reading = (async () => {
    for await (const batch of readSse(body as Body, new AbortController().signal, { idleMs })) {
      for (const { data } of batch) events.push(data);
    }
    return "done";
  })().then(
    (value) => {
      end = value;
    },
    (error) => {
      end = error;
    },
  );
  return {
    events,
    reading,
    end: () => end,
    isCancelled: () => cancelled,
    /** Sends `text` and lets the reader have it. */
    async send(text: string) {
      source?.enqueue(new TextEncoder().encode(text));
      for (let i = 0; i < 10; i++) await Promise.resolve();
    },
    close: () => source?.close(),
  };
}

test.each([
  ["a comment", ": keep-alive\n\n"],
  ["a ping", "event: ping\ndata: {}\n\n"],
  ["half a line", "da"],
  ["one byte", ":"],
])("%s counts as life", async (_name, text) => {
  const stream = open(300_000);
  for (let minutes = 0; minutes < 30; minutes += 4) {
    jest.advanceTimersByTime(4 * 60_000);
    await stream.send(text);
  }
  expect(stream.end()).toBe("open");
  jest.advanceTimersByTime(300_001);
  await stream.reading;
  expect(stream.end()).toMatchObject({
    code: "timeout",
    retryable: true,
    message: "The provider sent nothing for 300 s",
  });
  expect(stream.isCancelled()).toBe(true);
});

test("the wait for the first byte is not counted", async () => {
  const stream = open(300_000);
  jest.advanceTimersByTime(3_600_000);
  await stream.send("data: a\n\n");
  expect({ events: stream.events, end: stream.end() }).toEqual({ events: ["a"], end: "open" });
  jest.advanceTimersByTime(300_001);
  await stream.reading;
  expect(stream.end()).toMatchObject({ code: "timeout" });
});

test("without a limit hours of silence are none too many", async () => {
  const stream = open(0);
  jest.advanceTimersByTime(10 * 3_600_000);
  await stream.send("data: late\n\n");
  stream.close();
  await stream.reading;
  expect({ events: stream.events, end: stream.end() }).toEqual({ events: ["late"], end: "done" });
});

test("a stream that was idle for six minutes goes on where ten are allowed", async () => {
  const stream = open(600_000);
  await stream.send("data: a\n\n");
  jest.advanceTimersByTime(360_000);
  await stream.send("data: b\n\n");
  stream.close();
  await stream.reading;
  expect({ events: stream.events, end: stream.end() }).toEqual({ events: ["a", "b"], end: "done" });
});
