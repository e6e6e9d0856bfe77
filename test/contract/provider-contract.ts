// The suite every provider adapter passes: each fixture, however the network cuts its bytes and whatever line ends it has, gives the
// chunks that stand beside it; and silence, broken connections and aborts end an answer the same way everywhere.
import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import type { Transport } from "../../src/providers/http.ts";
import type { Chunk, Provider, ProviderRequest, ProviderSettings } from "../../src/providers/provider.ts";
import { defaultQuirks } from "../../src/providers/quirks.ts";
import { AppError } from "../../src/util/error.ts";
import { inRuns } from "../helpers/delta-runs.ts";
import { assistant, toolCall, toolResult, user } from "../helpers/messages.ts";
import { testModel } from "../helpers/scripted-provider.ts";

export interface Adapter {
  readonly name: string;
  readonly create: (settings: ProviderSettings, transport: Transport) => Provider;
  /** A folder of `<case>.sse` (bytes, line feeds as line ends) beside `<case>.events.jsonl` (the chunks, an error as its code and message). */
  readonly fixtures: string;
}

export const testSettings: ProviderSettings = {
  name: "test",
  baseUrl: "http://test.invalid/v1",
  apiKey: "test-key",
  idleMs: 0,
  headers: {},
  quirks: defaultQuirks,
};

export const testRequest: ProviderRequest = {
  model: testModel,
  system: "",
  messages: [{ role: "user", content: "hi", timestamp: 0 }],
  tools: [],
  maxTokens: 1000,
};

export function providerContract(adapter: Adapter): void {
  const names = readdirSync(adapter.fixtures)
    .filter((file) => file.endsWith(".sse"))
    .map((file) => basename(file, ".sse"))
    .sort();

  describe(`${adapter.name}: fixtures`, () => {
    test.each(names)("%s", async (name) => {
      const bytes = readFileSync(join(adapter.fixtures, `${name}.sse`));
      const expected = readFileSync(join(adapter.fixtures, `${name}.events.jsonl`), "utf8").trimEnd();
      // In the smallest pieces, each delta is a chunk of its own; those that one read brings are told as one.
      const whole = await read(adapter, inBytes(bytes));
      expect(whole.map(toLine)).toEqual(expected === "" ? [] : expected.split("\n").map(normalize));
      checkShape(whole);
      const wanted = inRuns(whole).map(toLine).join("\n");
      const check = async (how: string, pieces: Uint8Array[]) => {
        const got = inRuns(await read(adapter, pieces))
          .map(toLine)
          .join("\n");
        if (got !== wanted) expect({ how, got }).toEqual({ how, got: wanted });
      };
      for (const [ends, variant] of Object.entries(lineEndVariants(bytes))) {
        await check(`${ends}, whole`, [variant]);
        await check(`${ends}, byte by byte`, inBytes(variant));
        for (let at = 1; at < variant.length; at++) {
          await check(`${ends}, split at byte ${at}`, [variant.subarray(0, at), variant.subarray(at)]);
        }
      }
    });
  });

  test(`${adapter.name}: whatever stands in the place of a field, the stream ends in an answer or in an error of the provider's`, async () => {
    for (const name of names) {
      const text = readFileSync(join(adapter.fixtures, `${name}.sse`), "utf8");
      for (const variant of withStrangeFields(text)) {
        const chunks = await read(adapter, [Buffer.from(variant)]);
        checkShape(chunks);
        const last = chunks.at(-1);
        if (last?.type === "error" && last.error.code === "internal") expect(variant).toBe(last.error.message);
      }
    }
  }, 30_000);

  test(`${adapter.name}: an id that the provider left out is made up, free in the whole conversation`, async () => {
    const bytes = readFileSync(join(adapter.fixtures, "fields-of-wrong-types.sse"));
    const provider = adapter.create(testSettings, async () => new Response(bytes));
    const messages = [user("hi"), assistant([toolCall("call_0", "ls")]), toolResult("call_0", "ok")];
    const reading = provider.stream({ ...testRequest, messages }, new AbortController().signal);
    const chunks = (await Array.fromAsync(reading)).flat();
    expect(chunks.find((chunk) => chunk.type === "toolcall_start")?.id).toBe("call_0_2");
  });

  test(`${adapter.name}: a web page instead of a stream is told as one, and not asked for again`, async () => {
    const page = new Response("<html>\n<title>Log in</title>", {
      headers: { "content-type": "text/html; charset=utf-8" },
    });
    const provider = adapter.create(testSettings, async () => page);
    const reading = Array.fromAsync(provider.stream(testRequest, new AbortController().signal));
    expect(await reading.catch((error: unknown) => error)).toMatchObject({
      code: "stream_error",
      message: "The provider sent a web page instead of a stream (text/html): Log in",
      retryable: false,
    });
  });

  describe(`${adapter.name}: an answer that does not end well`, () => {
    test("a stream that goes silent ends as a timeout that may be retried, and its body is cancelled", async () => {
      const body = openBody(Buffer.from(": begun\n\n"));
      const chunks = await collect(adapter, body.stream, { idleMs: 20 });
      expect(chunks.at(-1)).toMatchObject({ type: "error", error: { code: "timeout", retryable: true } });
      expect(body.cancelled()).toBe(true);
    });

    test("an abort ends a silent stream at once and cancels its body", async () => {
      const body = openBody();
      const controller = new AbortController();
      const reading = collect(adapter, body.stream, {}, controller.signal);
      await body.waited;
      controller.abort();
      expect((await reading).at(-1)).toMatchObject({ type: "error", error: { code: "aborted", retryable: false } });
      expect(body.cancelled()).toBe(true);
    });

    test("a connection that breaks is a network error that may be retried", async () => {
      const body = openBody();
      const reading = collect(adapter, body.stream);
      await body.waited;
      body.fail(new Error("ECONNRESET"));
      expect((await reading).at(-1)).toMatchObject({ type: "error", error: { code: "network", retryable: true } });
    });

    test("a request that is refused throws what the transport threw", async () => {
      const refusal = new AppError("auth", "401: no");
      const provider = adapter.create(testSettings, () => Promise.reject(refusal));
      const reading = Array.fromAsync(provider.stream(testRequest, new AbortController().signal));
      expect(await reading.catch((error: unknown) => error)).toBe(refusal);
    });

    test("a reader that stops early cancels the body", async () => {
      const body = openBody(textFixture());
      const provider = adapter.create(testSettings, async () => new Response(body.stream));
      for await (const _ of provider.stream(testRequest, new AbortController().signal)) break;
      expect(body.cancelled()).toBe(true);
    });

    test("a whole answer ends although the server holds the connection open", async () => {
      const body = openBody(textFixture());
      expect((await collect(adapter, body.stream)).at(-1)).toMatchObject({ type: "end", reason: "stop" });
      expect(body.cancelled()).toBe(true);
    });
  });

  /** Every adapter has a fixture of this name: a plain, whole answer. */
  function textFixture(): Uint8Array {
    return readFileSync(join(adapter.fixtures, "text.sse"));
  }
}

const strange = [null, 5, "x", true, [], [null], ["x"], {}];

/** The stream with each field of each event replaced by something else, one at a time. */
function* withStrangeFields(text: string): Generator<string> {
  const lines = text.split("\n");
  for (const [i, line] of lines.entries()) {
    const json = /^data: ?(\{.*\})$/.exec(line)?.[1];
    if (json === undefined || !isJson(json)) continue;
    for (const variant of variantsOf(JSON.parse(json))) {
      yield [...lines.slice(0, i), `data: ${JSON.stringify(variant)}`, ...lines.slice(i + 1)].join("\n");
    }
  }
}

function* variantsOf(value: unknown): Generator<unknown> {
  yield* strange;
  if (Array.isArray(value)) {
    for (const [i, item] of value.entries()) for (const variant of variantsOf(item)) yield value.with(i, variant);
  } else if (typeof value === "object" && value !== null) {
    for (const [key, item] of Object.entries(value)) {
      for (const variant of variantsOf(item)) yield { ...value, [key]: variant };
    }
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function lineEndVariants(bytes: Buffer): Record<string, Buffer> {
  const text = bytes.toString("latin1");
  return {
    LF: bytes,
    CRLF: Buffer.from(text.replaceAll("\n", "\r\n"), "latin1"),
    CR: Buffer.from(text.replaceAll("\n", "\r"), "latin1"),
  };
}

function read(adapter: Adapter, pieces: readonly Uint8Array[]): Promise<Chunk[]> {
  let next = 0;
  const stream = new ReadableStream<Uint8Array>({
    pull(controller) {
      const piece = pieces[next++];
      if (piece === undefined) controller.close();
      else if (piece.length > 0) controller.enqueue(piece);
      else return this.pull?.(controller);
    },
  });
  return collect(adapter, stream);
}

async function collect(
  adapter: Adapter,
  body: ReadableStream<Uint8Array>,
  settings: Partial<ProviderSettings> = {},
  signal = new AbortController().signal,
): Promise<Chunk[]> {
  const provider = adapter.create({ ...testSettings, ...settings }, async () => new Response(body));
  const batches = await Array.fromAsync(provider.stream(testRequest, signal));
  return batches.flat();
}

/** A body that begins with `start` and then stays open; `waited` resolves when its reader waits for more. */
function openBody(start?: Uint8Array) {
  const waited = Promise.withResolvers<void>();
  let source: ReadableStreamDefaultController<Uint8Array> | undefined;
  let isCancelled = false;
  let left = start;
  const stream = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        source = controller;
      },
      pull(controller) {
        if (left) controller.enqueue(left);
        else waited.resolve();
        left = undefined;
      },
      cancel() {
        isCancelled = true;
      },
    },
    { highWaterMark: 0 },
  );
  return {
    stream,
    waited: waited.promise,
    cancelled: () => isCancelled,
    fail: (error: Error) => source?.error(error),
  };
}

/** Exactly one `end` or `error`, at the end; calls are numbered, their ids are unique, and fragments belong to a call that began. */
function checkShape(chunks: readonly Chunk[]): void {
  const last = chunks.findIndex(({ type }) => type === "end" || type === "error");
  expect(last).toBe(chunks.length - 1);
  const starts = chunks.filter((chunk) => chunk.type === "toolcall_start");
  expect(starts.map(({ index }) => index).sort((a, b) => a - b)).toEqual(starts.map((_, i) => i));
  expect(new Set(starts.map(({ id }) => id)).size).toBe(starts.length);
  const begun = new Set<number>();
  for (const chunk of chunks) {
    if (chunk.type === "toolcall_start") begun.add(chunk.index);
    if (chunk.type === "toolcall_delta" || chunk.type === "toolcall_extra") expect(begun).toContain(chunk.index);
  }
}

function inBytes(bytes: Uint8Array): Uint8Array[] {
  return Array.from(bytes, (_, i) => bytes.subarray(i, i + 1));
}

function toLine(chunk: Chunk): string {
  if (chunk.type !== "error") return JSON.stringify(sorted(chunk));
  const { code, message, retryable, retryAfterMs } = chunk.error;
  return JSON.stringify(sorted({ type: "error", error: { code, message, retryable, retryAfterMs } }));
}

function normalize(line: string): string {
  return JSON.stringify(sorted(JSON.parse(line)));
}

/** The order of keys says nothing. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, item]) => [key, sorted(item)]),
  );
}
