// The floor of a streamed answer: fetch, getReader(), what each read brought to stdout, as text or with `--json` as one event on a line of its own;
// nothing else, no errors handled.
const asJson = process.argv[2] === "--json";
const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost };

function toEvent(delta: string): string {
  const assistantMessageEvent = { type: "text_delta", contentIndex: 0, delta };
  return `${JSON.stringify({ type: "message_update", usage, assistantMessageEvent })}\n`;
}

const response = await fetch(`${process.env.PI_BASE_URL}/chat/completions`, {
  method: "POST",
  headers: { "content-type": "application/json", authorization: `Bearer ${process.env.OPENAI_API_KEY}` },
  body: JSON.stringify({ model: "bench", stream: true, messages: [{ role: "user", content: "hi" }] }),
});
const reader = response.body!.getReader();
const decoder = new TextDecoder();
const out = Bun.stdout.writer();
let rest = "";
for (let part = await reader.read(); !part.done; part = await reader.read()) {
  const lines = (rest + decoder.decode(part.value, { stream: true })).split("\n");
  rest = lines.pop()!;
  let text = "";
  for (const line of lines) {
    if (!line.startsWith("data: ") || line === "data: [DONE]") continue;
    text += JSON.parse(line.slice(6)).choices[0]?.delta.content ?? "";
  }
  if (text) out.write(asJson ? toEvent(text) : text);
  out.flush();
}
await out.end();

export {};
