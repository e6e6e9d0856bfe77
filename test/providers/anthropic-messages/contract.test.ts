// The Messages adapter passes the suite of all adapters; each fixture is named after what it shows.
import { join } from "node:path";
import { createAnthropicMessages } from "../../../src/providers/anthropic-messages/index.ts";
import { providerContract } from "../../contract/provider-contract.ts";

providerContract({
  name: "anthropic-messages",
  create: createAnthropicMessages,
  fixtures: join(import.meta.dir, "../../fixtures/anthropic-messages"),
});
