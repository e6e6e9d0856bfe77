// How fast the SDK reads the events of a streaming answer, beside the least that it can cost: each line parsed and its type looked at. Once for
// lines that are texts already, and once from the bytes of a pipe.
import { decodeRecord } from "../../src/protocol/decode.ts";
import { createRecordReader } from "../../src/sdk/record-reader.ts";

/** Events a second of processor time, in the best of several rounds, since whatever else the machine does only slows down. */
export interface DecodeFigures {
  readonly lines: { readonly floor: number; readonly decoded: number };
  /** `validated`: every record checked against its schema. */
  readonly bytes: { readonly floor: number; readonly decoded: number; readonly validated: number };
}

const events = 50_000;
const rounds = 15;
const chunkSize = 64 * 1024;

export function measureDecode(): DecodeFigures {
  const text = linesOf();
  const lines = text.trimEnd().split("\n");
  const chunks = chunksOf(text);
  const [floor, decoded] = bestOf([() => count(lines, JSON.parse), () => count(lines, parseAndDecode)]);
  const [floorOfBytes, decodedBytes, validated] = bestOf([
    () => split(chunks),
    () => read(chunks, false),
    () => read(chunks, true),
  ]);
  return {
    lines: { floor, decoded },
    bytes: { floor: floorOfBytes, decoded: decodedBytes, validated },
  } as DecodeFigures;
}

/** The rate of each, which take turns; the first rounds warm up. */
function bestOf(actions: readonly (() => number)[]): number[] {
  const best = actions.map(() => Number.POSITIVE_INFINITY);
  for (let round = -3; round < rounds; round++) {
    for (const [i, action] of actions.entries()) {
      const begun = process.cpuUsage();
      const read = action();
      const { user, system } = process.cpuUsage(begun);
      if (read !== events) throw new Error(`${read} events were read of ${events}`);
      if (round >= 0) best[i] = Math.min(best[i] as number, (user + system) / 1e6);
    }
  }
  return best.map((seconds) => events / seconds);
}

function linesOf(): string {
  const usage = {
    input: 1000,
    output: 5,
    cacheRead: 400,
    cacheWrite: 0,
    totalTokens: 1405,
    cost: { input: 0.001, output: 0.002, cacheRead: 0.0001, cacheWrite: 0, total: 0.0031 },
  };
  const event = (i: number) => ({
    type: "message_update",
    usage,
    assistantMessageEvent: { type: "text_delta", contentIndex: 0, delta: ` word${i}` },
  });
  return Array.from({ length: events }, (_, i) => `${JSON.stringify(event(i))}\n`).join("");
}

function chunksOf(text: string): Uint8Array[] {
  const bytes = new TextEncoder().encode(text);
  return Array.from({ length: Math.ceil(bytes.length / chunkSize) }, (_, i) =>
    bytes.subarray(i * chunkSize, (i + 1) * chunkSize),
  );
}

function isDelta(record: ReturnType<typeof decodeRecord>): boolean {
  return record.type === "message_update" && record.assistantMessageEvent.type === "text_delta";
}

const parseAndDecode = (line: string) => decodeRecord(JSON.parse(line));

function count(lines: readonly string[], parse: (line: string) => ReturnType<typeof decodeRecord>): number {
  let deltas = 0;
  for (const line of lines) if (isDelta(parse(line))) deltas++;
  return deltas;
}

function split(chunks: readonly Uint8Array[]): number {
  const decoder = new TextDecoder();
  let deltas = 0;
  let rest = "";
  for (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    deltas += count(lines, JSON.parse);
  }
  return deltas;
}

function read(chunks: readonly Uint8Array[], validate: boolean): number {
  let deltas = 0;
  const reader = createRecordReader({
    maxLineBytes: 1 << 20,
    validate,
    onError(error) {
      throw error;
    },
    onRecord(record) {
      if (isDelta(record)) deltas++;
    },
  });
  for (const chunk of chunks) reader.push(chunk);
  return deltas;
}
