// The compiled program beside the recordings of the one it stands in for; and the comparison itself.
import { describe, expect, test } from "bun:test";
import { compareRecords, type JsonObject } from "../../scripts/conformance/compare.ts";
import { formatReport, runConformance } from "../../scripts/conformance.ts";
import { binaryPath } from "../helpers/run-cli.ts";

test("RPC mode writes the records that were recorded, but for the differences kept on purpose", async () => {
  const report = await runConformance(binaryPath());
  const text = formatReport(report);
  expect({ open: report.open, stale: report.stale }, text).toEqual({ open: [], stale: [] });
  expect(report.results.flatMap(({ problems }) => problems)).toEqual([]);
  expect(report.results).toHaveLength(16);
  expect(text).toMatch(/without those kept +records .* 100\.0 % +keys .* 100\.0 %/);
}, 60_000);

describe("two lists of records", () => {
  const update = (type: string, delta: string): JsonObject => ({
    type: "message_update",
    assistantMessageEvent: { type, delta },
  });
  const answer = (data: JsonObject): JsonObject => ({ type: "response", command: "get_state", data });

  test("that differ in values and in the number of deltas are the same", () => {
    const one = [{ type: "agent_start" }, update("text_delta", "a"), update("text_delta", "b"), answer({ n: 1 })];
    const other = [{ type: "agent_start" }, update("text_delta", "ab"), answer({ n: 2 })];
    const same = { records: 3, matchingRecords: 3, keys: 9, matchingKeys: 9, differences: [] };
    expect(compareRecords(one, other)).toEqual(same);
  });

  test("differ in a key that is missing, that is more, or that has another type", () => {
    const one = [answer({ a: 1, b: null, list: [{ type: "x", only: "here" }, { type: "y" }] })];
    const other = [answer({ a: "1", c: true, list: [{ type: "x" }] })];
    expect(compareRecords(one, other)).toEqual({
      records: 1,
      matchingRecords: 1,
      keys: 11,
      matchingKeys: 6,
      differences: [
        { record: "response(get_state)", key: "data.a", expected: "number", actual: "string" },
        { record: "response(get_state)", key: "data.b", expected: "null", actual: "absent" },
        { record: "response(get_state)", key: "data.list[x].only", expected: "string", actual: "absent" },
        { record: "response(get_state)", key: "data.list[y]", expected: "object", actual: "absent" },
        { record: "response(get_state)", key: "data.c", expected: "absent", actual: "boolean" },
      ],
    });
  });

  test("differ in a record that one has alone, and in their order", () => {
    const [start, end, settled] = ["agent_start", "agent_end", "agent_settled"].map((type) => ({ type }));
    expect(compareRecords([start!, end!, settled!], [start!, settled!, end!])).toMatchObject({
      records: 4,
      matchingRecords: 2,
      differences: [
        { key: undefined, expected: "record", actual: "absent" },
        { key: undefined, expected: "absent", actual: "record" },
      ],
    });
  });
});
