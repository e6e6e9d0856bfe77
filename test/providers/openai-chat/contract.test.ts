// The adapter for OpenAI-compatible chat completions under the suites of all adapters.
import { join } from "node:path";
import { conversationContract } from "../../contract/conversation-contract.ts";
import { failureContract } from "../../contract/failure-contract.ts";
import { providerContract } from "../../contract/provider-contract.ts";
import { chatWire } from "../../helpers/wire.ts";

providerContract({ ...chatWire, fixtures: join(import.meta.dir, "../../fixtures/openai-chat") });
conversationContract(chatWire);
failureContract(chatWire);
