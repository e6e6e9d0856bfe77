// Lines for RPC mode that no client would send: commands with fields missing, wrong or broken, bytes at random, and whole ones between.
import { rpcCommands } from "../../src/protocol/rpc.ts";

/** Not those that end what is under test, wait for long, or leave the loopback. */
const names = Object.keys(rpcCommands).filter((name) => !["bash", "export_html"].includes(name));
const values: unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1e308,
  "",
  " ",
  "x",
  "off",
  "all",
  "steer",
  "\u2028",
  "\ud800",
  "\0",
  "../../etc/passwd",
  "a".repeat(5000),
  [],
  [null],
  {},
  { a: { b: [] } },
];
const fields = [
  "message",
  "images",
  "streamingBehavior",
  "mode",
  "level",
  "enabled",
  "entryId",
  "since",
  "name",
  "provider",
  "modelId",
  "customInstructions",
  "sessionPath",
  "parentSession",
  "excludeFromContext",
  "__proto__",
  "constructor",
];

/** The same for the same seed. */
export function* randomLines(seed: number, count: number): Generator<Uint8Array> {
  let state = seed >>> 0;
  // Mulberry32.
  const random = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  const below = (limit: number) => Math.floor(random() * limit);
  const pick = <Value>(from: readonly Value[]) => from[below(from.length)] as Value;

  function command(): string {
    const parts: Record<string, unknown> = random() < 0.9 ? { type: random() < 0.9 ? pick(names) : pick(values) } : {};
    if (random() < 0.7) parts.id = random() < 0.8 ? `r${below(1000)}` : pick(values);
    for (let i = below(4); i > 0; i--) parts[pick(fields)] = pick(values);
    return JSON.stringify(parts);
  }

  for (let i = 0; i < count; i++) {
    const bytes = Buffer.from(random() < 0.1 ? JSON.stringify(pick(values)) : command());
    const kind = random();
    if (kind < 0.2) for (let n = 1 + below(3); n > 0 && bytes.length > 0; n--) bytes[below(bytes.length)] = below(256);
    yield kind < 0.9 ? bytes : bytes.subarray(0, below(bytes.length + 1));
  }
}
