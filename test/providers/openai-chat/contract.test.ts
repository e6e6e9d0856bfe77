// The adapter for OpenAI-compatible chat completions under the suite of all adapters.
import { join } from "node:path";
import { createOpenAiChat } from "../../../src/providers/openai-chat/index.ts";
import { providerContract } from "../../contract/provider-contract.ts";

providerContract({
  name: "openai-chat",
  create: createOpenAiChat,
  fixtures: join(import.meta.dir, "../../fixtures/openai-chat"),
});
