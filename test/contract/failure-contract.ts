// The third suite every adapter passes: answers that break off, stay away or are refused, through the real loop and real connections.
// What becomes of half an answer, which failures are tried again and when, and that an abort works at any time.
import { describe, expect, test } from "bun:test";
import type { Message } from "../../src/protocol/message.ts";
import type { ErrorCode } from "../../src/util/error.ts";
import { type ConverseOptions, callOf, converse, createPartner, createRunner } from "../helpers/converse.ts";
import { outline } from "../helpers/messages.ts";
import { type Answer, type Reply, refusal, startReplayServer } from "../helpers/replay-server.ts";
import type { Wire } from "../helpers/wire.ts";

const ok: Reply = { turn: { text: "ok" } };

export function failureContract(wire: Wire): void {
  const run = createRunner(wire);

  /** What a failure leads to: its class, and the wait before the next attempt where there is one. Nothing is waited for. */
  async function firstFailure(reply: Reply, options: ConverseOptions = {}) {
    const controller = new AbortController();
    let delayMs: number | undefined;
    let message: string | undefined;
    const { error, events, requests } = await run([reply], {
      maxRetries: 3,
      signal: controller.signal,
      ...options,
      onEvent(event) {
        if (event.type === "message_end" && event.message.role === "assistant") message = event.message.errorMessage;
        if (event.type !== "auto_retry_start") return;
        delayMs = event.delayMs;
        controller.abort();
      },
    });
    expect(requests).toHaveLength(1);
    return { code: error?.code, retried: delayMs !== undefined, delayMs, message, events };
  }

  describe(`${wire.name}: an answer that breaks off`, () => {
    test.each<[string, Partial<Answer>]>([
      ["with its body", {}],
      ["with its connection", { framing: "close" }],
    ])("cleanly, %s, is an error, and half a call never runs", async (_name, how) => {
      const { status, error, text, history, ran, events } = await run([{ body: wire.half, ...how }]);
      expect({ status, code: error?.code, text, history, ran }).toEqual({
        status: "error",
        code: "stream_truncated",
        text: "one two",
        history: [],
        ran: [],
      });
      const last = events.findLast((event) => event.type === "message_end");
      expect(last?.message).toMatchObject({
        content: [{ type: "text", text: "one two" }],
        stopReason: "error",
        errorMessage: "The connection closed in the middle of the answer",
      });
    });

    test("by an error inside the 200 ends the turn with the provider's words", async () => {
      const { status, error, history, ran } = await run([
        { body: [...wire.half, wire.error("invalid_request_error", "the model is gone")] },
      ]);
      expect({ status, code: error?.code, history, ran }).toEqual({
        status: "error",
        code: "stream_error",
        history: [],
        ran: [],
      });
      expect(error?.message).toContain("the model is gone");
    });

    const document = (type: string, message: string): Answer => ({
      headers: { "content-type": "application/json; charset=utf-8" },
      body: [`\n${JSON.stringify({ type: "error", error: { type, message } }, null, 2)}`, "\n"],
    });

    test("because a JSON document came instead ends the turn with its words", async () => {
      const { error, requests } = await run([document("invalid_request_error", "no such model")], { maxRetries: 3 });
      expect({ code: error?.code, asked: requests.length }).toEqual({ code: "stream_error", asked: 1 });
      expect(error?.message).toContain("no such model");
    });

    test("because a JSON document says that the provider is overloaded is asked again", async () => {
      const { status, text } = await run([document("overloaded_error", "try again in 0 s"), ok], { maxRetries: 1 });
      expect({ status, text }).toEqual({ status: "done", text: "ok" });
    });

    test("not because a whole answer came as a JSON document", async () => {
      const whole = wire.wholeDocument("ok");
      const { status, text } = await run([{ headers: { "content-type": "application/json" }, body: whole }]);
      expect({ status, text }).toEqual({ status: "done", text: "ok" });
    });

    test("not because a true stream has the type of a document", async () => {
      const headers = { "content-type": "application/json" };
      const { status, text } = await run([{ headers, body: ["\n", ...wire.whole("ok")] }]);
      expect({ status, text }).toEqual({ status: "done", text: "ok" });
    });

    test("because the provider is overloaded is asked again, and nothing of it stays", async () => {
      const overloaded = wire.error("overloaded_error", "Overloaded, try again in 0 s");
      const { status, text, history, ran, outlines } = await run([{ body: [...wire.half, overloaded] }, ok], {
        maxRetries: 1,
      });
      expect({ status, text, ran }).toEqual({ status: "done", text: "ok", ran: [] });
      expect(outline(history)).toEqual(["user do it", "assistant ok"]);
      expect(outlines).toEqual([["user do it"], ["user do it"]]);
    });

    test("shows no key, although the provider says it", async () => {
      const { message } = await firstFailure(
        {
          body: [wire.error("overloaded_error", "no room for test-key-0123456789 nor x-secret-77")],
        },
        { settings: { headers: { "x-team-token": "x-secret-77" } } },
      );
      expect(message).toContain("no room for [key hidden] nor [key hidden]");
    });
  });

  describe(`${wire.name}: silence`, () => {
    test.each<[string, Reply, ConverseOptions, string]>([
      ["before any headers", "silent", { firstByteMs: 30 }, "did not begin to answer within 0.03 s"],
      ["behind the headers", { ending: "silent" }, { firstByteMs: 30 }, "did not begin to answer within 0.03 s"],
      [
        "behind the first word",
        { body: wire.firstWord, ending: "silent" },
        { settings: { idleMs: 30 } },
        "sent nothing for 0.03 s",
      ],
    ])("%s is a timeout that is tried again, and the connection is closed", async (_name, reply, limits, words) => {
      await using server = await startReplayServer([reply]);
      const controller = new AbortController();
      const { events, ran } = await converse(wire, server.url, {
        ...limits,
        maxRetries: 1,
        signal: controller.signal,
        onEvent: ({ type }) => type === "auto_retry_start" && controller.abort(),
      });
      await (await server.request(0)).closed;
      const retry = events.find((event) => event.type === "auto_retry_start");
      expect(retry?.errorMessage).toEndWith(words);
      expect(ran).toEqual([]);
    });
  });

  describe(`${wire.name}: an abort takes effect at once and closes the connection`, () => {
    test.each<[string, Reply, string[]]>([
      ["before the headers", "silent", []],
      ["before the first event", { ending: "silent" }, []],
      ["in the middle of the text", { body: wire.firstWord, ending: "silent" }, ["user do it", "assistant one"]],
      ["in the middle of a call", { body: wire.half, ending: "silent" }, ["user do it", "assistant one two"]],
    ])("%s", async (_name, reply, left) => {
      await using server = await startReplayServer([reply]);
      const controller = new AbortController();
      const saysAll = left.join().includes("two") ? "toolcall_delta" : "text_delta";
      const running = converse(wire, server.url, {
        signal: controller.signal,
        onEvent: (event) =>
          event.type === "message_update" && event.assistantMessageEvent.type === saysAll && controller.abort(),
      });
      const request = await server.request(0);
      if (left.length === 0) controller.abort();
      const { status, history, ran } = await running;
      await request.closed;
      expect({ status, ran, left: outline(history) }).toEqual({ status: "aborted", ran: [], left });
    });

    test("while the next attempt waits", async () => {
      const { delayMs, events } = await firstFailure(refusal(529, {}, { "retry-after": "50" }));
      expect(delayMs).toBeGreaterThanOrEqual(50_000);
      expect(events.at(-1)).toEqual({
        type: "auto_retry_end",
        success: false,
        attempt: 1,
        finalError: "Retry aborted",
      });
    });

    test("while a tool runs: its call and those behind it get a result, and the conversation goes on", async () => {
      const controller = new AbortController();
      const history: Message[] = [];
      await using server = await startReplayServer([{ turn: { calls: [callOf("a"), callOf("b")] } }, ok]);
      const partner = createPartner(wire, server.url, { history });
      const { status } = await partner({
        signal: controller.signal,
        tools: {
          bash: (_args, { signal }) => {
            controller.abort();
            return { text: `stopped: ${signal.aborted}` };
          },
        },
      });
      expect(status).toBe("aborted");
      await partner({ prompt: "go on" });
      expect(server.problems).toEqual([]);
      expect(wire.outline(server.requests[1]?.body)).toEqual([
        "user do it",
        "assistant +a +b",
        "result a stopped: true",
        "result b Error: not run: the user interrupted",
        "user go on",
      ]);
    });
  });

  describe(`${wire.name}: a failure`, () => {
    const passing: readonly [name: string, reply: Reply, code: ErrorCode][] = [
      ["408", refusal(408, {}), "server"],
      ["409", refusal(409, {}), "server"],
      ["500", refusal(500, {}), "server"],
      ["502", refusal(502, {}), "server"],
      ["504", refusal(504, {}), "server"],
      ["429", refusal(429, {}), "rate_limit"],
      ["429 for too many tokens a minute", refusal(429, "prompt is too long: tokens per minute"), "rate_limit"],
      ["503", refusal(503, {}), "overloaded"],
      ["529", refusal(529, { error: { type: "overloaded_error" } }), "overloaded"],
      ["a connection that is refused", "refuse", "network"],
      ["a connection that is reset", { body: wire.firstWord, ending: "reset" }, "network"],
      ["a stream that breaks off", { body: wire.firstWord }, "stream_truncated"],
      ["an empty stream", { body: ": ping\n\n" }, "stream_empty"],
      ["an overload inside a stream", { body: [wire.error("overloaded_error", "busy")] }, "overloaded"],
      ["a rate limit inside a stream", { body: [wire.error("rate_limit_error", "slower")] }, "rate_limit"],
    ];
    test.each(passing)("that passes is tried again after about a second: %s", async (_name, reply, code) => {
      const { retried, delayMs, events } = await firstFailure(reply);
      expect(retried).toBe(true);
      expect(delayMs).toBeGreaterThanOrEqual(750);
      expect(delayMs).toBeLessThanOrEqual(1250);
      const failed = await run([reply]);
      expect(failed.error?.code).toBe(code);
      expect(events.filter(({ type }) => type === "agent_end")).toMatchObject([{ willRetry: true }]);
    });

    const lasting: readonly [name: string, reply: Reply, code: ErrorCode][] = [
      ["a wrong key", refusal(401, {}), "auth"],
      ["a key without the right", refusal(403, {}), "auth"],
      ["a used-up quota", refusal(429, { error: { code: "insufficient_quota" } }, { "retry-after": "1" }), "quota"],
      ["an empty account", refusal(402, { error: { message: "Insufficient Balance" } }), "quota"],
      ["a bad request", refusal(400, { error: { message: "bad" } }), "bad_request"],
      ["a request that is too large", refusal(413, {}), "context_overflow"],
      ["an overflow", refusal(400, { error: { message: "prompt is too long: 9 tokens > 8" } }), "context_overflow"],
      ["an overflow by its code", refusal(400, { error: { code: "context_length_exceeded" } }), "context_overflow"],
      [
        "an overflow inside a stream",
        { body: [wire.error("invalid_request_error", "prompt is too long: 9 tokens > 8")] },
        "context_overflow",
      ],
    ];
    test.each(lasting)("that lasts is not tried again: %s", async (_name, reply, code) => {
      const { retried, code: seen, events } = await firstFailure(reply);
      expect({ retried, seen }).toEqual({ retried: false, seen: code });
      expect(events.filter(({ type }) => type.startsWith("auto_retry"))).toEqual([]);
    });

    const inTenMinutes = () => new Date(Date.now() + 600_000).toUTCString();
    test.each<[string, retryAfter: () => string | undefined, message: string, least: number, most: number]>([
      ["seconds in a header", () => "7", "", 7000, 7700],
      ["a date in a header, a minute at most", inTenMinutes, "", 60_000, 60_000],
      ["a date that has passed", () => new Date(0).toUTCString(), "", 0, 0],
      ["the text", () => undefined, "please try again after 7 seconds", 7000, 7700],
      ["an hour in a header, a minute at most", () => "3600", "", 60_000, 60_000],
    ])("waits as long as the provider asks, by %s", async (_name, retryAfter, message, least, most) => {
      const wish = retryAfter();
      const headers = wish === undefined ? {} : { "retry-after": wish };
      const { delayMs } = await firstFailure(refusal(429, { error: { message } }, headers));
      expect(delayMs).toBeGreaterThanOrEqual(least);
      expect(delayMs).toBeLessThanOrEqual(most);
    });

    test("keeps the finished rounds, and the attempts are told in order", async () => {
      const round = (id: string): Reply => ({ turn: { calls: [callOf(id)] } });
      const busy = refusal(429, { error: { message: "slower" } }, { "retry-after": "0" });
      const script = [round("a"), round("b"), round("c"), round("d"), busy, busy, ok];
      const { status, history, events, outlines } = await run(script, { maxRetries: 2 });
      expect(status).toBe("done");
      expect(outline(history).filter((line) => line.startsWith("assistant"))).toEqual([
        "assistant +a",
        "assistant +b",
        "assistant +c",
        "assistant +d",
        "assistant ok",
      ]);
      expect(outlines[6]).toEqual(outlines[4] as string[]);
      const errorMessage = "429: slower";
      const retries = events.filter(({ type }) => type.startsWith("auto_retry"));
      expect(retries).toMatchObject([
        { type: "auto_retry_start", attempt: 1, maxAttempts: 2, delayMs: 0, errorMessage },
        { type: "auto_retry_start", attempt: 2, maxAttempts: 2, errorMessage },
        { type: "auto_retry_end", success: true, attempt: 2 },
      ]);
    });

    test("that outlasts the attempts ends the run with its words, and the finished rounds stay", async () => {
      const busy = refusal(529, { error: { message: "busy" } }, { "retry-after": "0" });
      const { status, error, history, events } = await run([{ turn: { calls: [callOf("a")] } }, busy, busy], {
        maxRetries: 1,
      });
      expect({ status, code: error?.code }).toEqual({ status: "error", code: "overloaded" });
      expect(outline(history)).toEqual(["user do it", "assistant +a", 'result a ran {"n":1}']);
      expect(events.filter(({ type }) => type === "auto_retry_end")).toEqual([
        { type: "auto_retry_end", success: false, attempt: 1, finalError: "529: busy" },
      ]);
    });

    test("is not tried again when no attempts are allowed", async () => {
      const { requests, events } = await run([refusal(529, {}, { "retry-after": "0" })], { maxRetries: 0 });
      expect(requests).toHaveLength(1);
      expect(events.filter(({ type }) => type.startsWith("auto_retry"))).toEqual([]);
    });

    test("shows what the provider said, without keys", async () => {
      const said = { error: { message: "org-abcdefghijklmnop is over its limit, key test-key-0123456789" } };
      const { message } = await firstFailure(refusal(429, said));
      expect(message).toBe("429: [key hidden] is over its limit, key [key hidden]");
    });
  });
}
