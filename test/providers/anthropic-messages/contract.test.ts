// The Messages adapter under the suites of all adapters; each fixture is named after what it shows.
import { join } from "node:path";
import { conversationContract } from "../../contract/conversation-contract.ts";
import { failureContract } from "../../contract/failure-contract.ts";
import { providerContract } from "../../contract/provider-contract.ts";
import { messagesWire } from "../../helpers/wire.ts";

providerContract({ ...messagesWire, fixtures: join(import.meta.dir, "../../fixtures/anthropic-messages") });
conversationContract(messagesWire);
failureContract(messagesWire);
