// The floor of a streamed answer: fetch, getReader(), the text of each delta to stdout; nothing else, no errors handled.
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
  for (const line of lines) {
    if (!line.startsWith("data: ") || line === "data: [DONE]") continue;
    const text = JSON.parse(line.slice(6)).choices[0]?.delta.content;
    if (text) out.write(text);
  }
  out.flush();
}
await out.end();

export {};
