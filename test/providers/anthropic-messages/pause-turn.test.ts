// A turn the provider pauses: the loop sends the half answer back, and the model goes on.
import { expect, test } from "bun:test";
import { runLoop } from "../../../src/agent/loop.ts";
import type { AgentEvent } from "../../../src/protocol/event.ts";
import type { Message } from "../../../src/protocol/message.ts";
import { createAnthropicMessages } from "../../../src/providers/anthropic-messages/index.ts";
import type { HttpRequest } from "../../../src/providers/http.ts";
import { defaultQuirks } from "../../../src/providers/quirks.ts";
import { conversationIn } from "../../helpers/conversation.ts";
import { testModel, user } from "./helpers.ts";

const fixture = (name: string) =>
  Bun.file(new URL(`../../fixtures/anthropic-messages/${name}.sse`, import.meta.url)).bytes();

async function run(answers: readonly string[], maxTurns = 10) {
  const requests: HttpRequest[] = [];
  const events: AgentEvent[] = [];
  const provider = createAnthropicMessages(
    {
      name: "anthropic",
      baseUrl: "http://127.0.0.1/v1",
      apiKey: "",
      idleMs: 0,
      headers: {},
      quirks: defaultQuirks,
    },
    async (request) => new Response(await fixture(answers[requests.push(request) - 1] ?? "text")),
  );
  const outcome = await runLoop({
    provider,
    model: testModel(),
    system: { role: "system", content: "", timestamp: 0 },
    announceSystem: false,
    conversation: conversationIn([]),
    prompt: user("go") as Message & { role: "user" },
    // No call is ever made here.
    environment: { tools: { specs: [] } } as never,
    maxTokens: 8192,
    maxTurns,
    maxRetries: 0,
    temperature: undefined,
    signal: new AbortController().signal,
    emit: (event) => events.push(event),
  });
  return { outcome, requests: requests.map(({ body }) => JSON.parse(body)), events };
}

test("the paused half goes back, and with the answer after it is the whole answer", async () => {
  const { outcome, requests, events } = await run(["pause-turn", "text"]);
  expect(outcome).toMatchObject({ status: "done", text: "Still looking.Hello there." });
  expect(requests[1].messages.slice(1)).toMatchObject([
    { role: "assistant", content: [{ type: "text", text: "Still looking." }] },
    { role: "user", content: [{ type: "text", text: "Continue." }] },
  ]);
  expect(events.filter(({ type }) => type === "turn_start").length).toBe(2);
});

test("a model that only pauses meets the turn limit", async () => {
  const { outcome, requests } = await run(["pause-turn", "pause-turn", "pause-turn"], 2);
  expect(outcome).toMatchObject({ status: "error", error: { code: "turn_limit" } });
  expect(requests.length).toBe(2);
});
