// A line is what JSON.stringify makes of its record, whichever messages were told before.
import { expect, test } from "bun:test";
import { toJson } from "../../src/protocol/to-json.ts";

const asked = { role: "user", content: 'what\n"is" ⟂ this?', timestamp: 1 };
const answer = { role: "assistant", content: [{ type: "text", text: "A \u2028 line" }], errorMessage: undefined };

test.each([
  { type: "agent_start" },
  { type: "message_start", message: { ...answer, content: [] } },
  { type: "message_end", message: answer },
  { type: "message", id: "1", parentId: null, timestamp: "now", message: answer },
  { type: "turn_end", message: answer, toolResults: [] },
  { type: "agent_end", messages: [asked, answer], willRetry: false },
  { type: "agent_end", messages: [undefined, answer], willRetry: undefined },
  { type: "message_end", message: asked, extra: undefined, more: [undefined] },
  { type: "notice", message: "words" },
  { type: "notice", message: null, messages: 3 },
  { message: answer, type: "last" },
])("%j", (record) => {
  for (let round = 0; round < 2; round++) expect(toJson(record)).toBe(JSON.stringify(record));
});
