// Events out of the text of a stream, however it is cut and ends its lines; and the limit on silence, with a clock of the test's own:
// what counts as life, and that no limit means none.
import { afterEach, beforeEach, describe, expect, jest, test } from "bun:test";
import { createParser } from "eventsource-parser";
import type { Body } from "../../src/providers/body.ts";
import { createSseParser, readSse } from "../../src/providers/sse.ts";
import { createRandom, pick, type Random } from "../helpers/random-text.ts";

describe("events", () => {
  /** Name and data of each event of a text that comes in these pieces. */
  function eventsOf(pieces: readonly string[]): (readonly [event: string | undefined, data: string])[] {
    const feed = createSseParser();
    return pieces.flatMap((piece) => feed(piece).map(({ event, data }) => [event, data] as const));
  }

  // See the examples of "Interpreting an event stream", and the grammar before them.
  test.each<[string, string, [string | undefined, string][]]>([
    ["lines of data are one text", "data: YHOO\ndata: +2\ndata: 10\n\n", [[undefined, "YHOO\n+2\n10"]]],
    ["comments and unknown fields are passed over", ": one\nfoo: x\nid: 1\nretry: 5\ndata: a\n\n", [[undefined, "a"]]],
    [
      "one blank behind the colon is no part of a value",
      "data:a\n\ndata:  b\n\n",
      [
        [undefined, "a"],
        [undefined, " b"],
      ],
    ],
    [
      "a field without a colon is empty",
      "data\n\ndata\ndata\n\ndata:",
      [
        [undefined, ""],
        [undefined, "\n"],
      ],
    ],
    [
      "a name counts for one event",
      "event: add\ndata: 1\n\ndata: 2\n\n",
      [
        ["add", "1"],
        [undefined, "2"],
      ],
    ],
    ["an empty name is none", "event: add\nevent\ndata: 1\n\n", [[undefined, "1"]]],
    ["a name without data is no event", "event: ping\n\ndata: 1\n\n", [[undefined, "1"]]],
    [
      "more blank lines are nothing",
      "\n\n\ndata: 1\n\n\n\ndata: 2\n\n",
      [
        [undefined, "1"],
        [undefined, "2"],
      ],
    ],
    ["data may hold colons and begin like a field", "data: data: x: y\n\n", [[undefined, "data: x: y"]]],
    ["names of fields are taken as they are", "Data: x\n data: y\ndata : z\n\n", []],
    ["an event without its blank line is none yet", "data: 1\n\ndata: 2\n", [[undefined, "1"]]],
  ])("%s, whatever ends the lines and wherever the text is cut", (_what, text, events) => {
    for (const lineEnd of ["\n", "\r\n", "\r"]) {
      const sent = text.replaceAll("\n", lineEnd);
      for (let cut = 0; cut <= sent.length; cut++) {
        expect(eventsOf([sent.slice(0, cut), sent.slice(cut)])).toEqual(events);
      }
      expect(eventsOf([...sent])).toEqual(events);
    }
  });

  const parts = [
    "data",
    "event",
    "id",
    ":",
    ": ",
    "data: ",
    "event: ",
    "x",
    "é",
    "\n",
    "\n\n",
    "\r\n",
    "\r\n\r\n",
    "\r",
    "",
  ];

  function randomPieces(random: Random): string[] {
    const text = Array.from({ length: 1 + random(30) }, () => pick(random, parts)).join("");
    const cuts = Array.from({ length: random(8) }, () => random(text.length)).sort((a, b) => a - b);
    return [0, ...cuts].map((cut, i) => text.slice(cut, cuts[i]));
  }

  test("are those that another parser finds", () => {
    const random = createRandom(7);
    for (let round = 0; round < 20_000; round++) {
      const pieces = randomPieces(random);
      const found: (readonly [event: string | undefined, data: string])[] = [];
      const parser = createParser({ onEvent: ({ event, data }) => found.push([event, data]) });
      for (const piece of pieces) parser.feed(piece);
      expect({ pieces, events: eventsOf(pieces) }).toEqual({ pieces, events: found });
    }
  });

  test.each([
    ["in one line", "x"],
    ["in many lines", `data: ${"x".repeat(1017)}\n`],
  ])("one that does not end is an error and not held for ever: %s", (_name, repeated) => {
    const feed = createSseParser();
    const piece = repeated.repeat((4 * 1024 * 1024) / repeated.length);
    feed("data: ");
    expect(() => {
      for (let i = 0; i < 100; i++) feed(piece);
    }).toThrow(expect.objectContaining({ code: "stream_error", message: expect.stringContaining("64 MB") }));
  });

  test("one of ten megabytes may come in small pieces", () => {
    const feed = createSseParser();
    const piece = "x".repeat(1000);
    feed("data: ");
    for (let i = 0; i < 10_000; i++) expect(feed(piece)).toEqual([]);
    const [event] = feed("\n\n");
    expect(event?.data.length).toBe(10_000_000);
  });
});

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
