// The floor of RPC mode: one small answer for each line of stdin, until its end.
const reader = Bun.stdin.stream().getReader();
const decoder = new TextDecoder();
const out = Bun.stdout.writer();
let rest = "";
for (let part = await reader.read(); !part.done; part = await reader.read()) {
  const lines = (rest + decoder.decode(part.value, { stream: true })).split("\n");
  rest = lines.pop()!;
  for (const line of lines) {
    const { type } = JSON.parse(line);
    out.write(`${JSON.stringify({ type: "response", command: type, success: true })}\n`);
  }
  out.flush();
}
await out.end();

export {};
