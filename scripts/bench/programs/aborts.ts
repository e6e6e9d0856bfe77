// Gives up so many answers in the middle, one after another, through the real provider; its peak memory is what the bench compares.
import { createHttpTransport } from "../../../src/providers/http.ts";
import { createOpenAiChat } from "../../../src/providers/openai-chat/index.ts";
import { defaultQuirks } from "../../../src/providers/quirks.ts";

const baseUrl = process.env.PI_BASE_URL ?? "";
const provider = createOpenAiChat(
  { name: "bench", baseUrl, apiKey: "bench", idleMs: 0, headers: {}, quirks: defaultQuirks },
  createHttpTransport({ firstByteMs: 0 }),
);
const model = {
  id: "bench",
  name: "bench",
  api: provider.api,
  provider: provider.name,
  baseUrl,
  reasoning: false,
  input: ["text" as const],
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  contextWindow: 100_000,
  maxTokens: 1000,
};

for (let i = 0; i < Number(process.argv[2]); i++) {
  const abort = new AbortController();
  const messages = [{ role: "user" as const, content: "hi", timestamp: 0 }];
  let reads = 0;
  for await (const _ of provider.stream({ model, system: "", messages, tools: [], maxTokens: 100 }, abort.signal)) {
    if (++reads > 3) abort.abort();
  }
}
process.exit(0);
