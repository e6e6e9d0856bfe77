// Sessions for the bench: conversations of short questions and long tool results, with a compaction near the end or without any.
import { closeSync, mkdirSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";

const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, totalTokens: 2, cost };
const output = 'Some output of a tool, with "quotes", a path such as src/main.ts and a number, 12345.\n'.repeat(100);
const answer = {
  role: "assistant",
  api: "openai-completions",
  provider: "openai",
  model: "bench",
  usage,
  timestamp: 1,
};

export function sessionPath(folder: string, id: string): string {
  return join(folder, `2026-01-01T00-00-00-000Z_${id}.jsonl`);
}

/** Writes a session of about so many bytes into `folder`, at the path of its id. */
export function writeSession(
  folder: string,
  id: string,
  bytes: number,
  { compacted }: { readonly compacted: boolean },
): void {
  mkdirSync(folder, { recursive: true });
  const file = openSync(sessionPath(folder, id), "w");
  const timestamp = "2026-01-01T00:00:00.000Z";
  let parentId: string | null = null;
  let count = 0;
  let size = 0;
  let lines = "";
  const write = (record: object) => {
    lines += `${JSON.stringify(record)}\n`;
    if (lines.length < 1_000_000) return;
    size += writeSync(file, lines);
    lines = "";
  };
  const add = (type: string, fields: object) => {
    const own = (count++).toString(16).padStart(8, "0");
    write({ type, id: own, parentId, timestamp, ...fields });
    parentId = own;
  };
  const say = (message: object) => add("message", { message });
  write({ type: "session", version: 3, id, timestamp, cwd: "/bench" });
  add("model_change", { provider: "openai", modelId: "bench" });
  say({ role: "system", content: "", sections: { rules: "x".repeat(9000) }, timestamp: 1 });
  while (size + lines.length < bytes) {
    const call = { type: "toolCall", id: `c${count}`, name: "bash", arguments: { command: "cat log" } };
    say({ role: "user", content: [{ type: "text", text: `question ${count} of ${id}` }], timestamp: 1 });
    say({ ...answer, content: [call], stopReason: "toolUse" });
    const content = [{ type: "text", text: output }];
    say({ role: "toolResult", toolCallId: call.id, toolName: "bash", content, isError: false, timestamp: 1 });
    say({ ...answer, content: [{ type: "text", text: `answer ${count}` }], stopReason: "stop" });
  }
  if (compacted) add("compaction", { summary: "What was done.", firstKeptEntryId: parentId, tokensBefore: 1000 });
  writeSync(file, lines);
  closeSync(file);
}
