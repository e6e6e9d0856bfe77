// The second suite every adapter passes: whole conversations through the real loop and real connections to a scripted server.
// What one answer shows is in the fixtures of the first suite; here is what tools and the next request get of it.
import { describe, expect, test } from "bun:test";
import { repairHistory } from "../../src/agent/repair-history.ts";
import { Message } from "../../src/protocol/message.ts";
import { defaultQuirks } from "../../src/providers/quirks.ts";
import { callOf, createPartner, createRunner } from "../helpers/converse.ts";
import { assistant, toolCall, toolResult, user } from "../helpers/messages.ts";
import { gate, type Reply, startReplayServer } from "../helpers/replay-server.ts";
import { testModel } from "../helpers/scripted-provider.ts";
import type { Wire } from "../helpers/wire.ts";

const ok: Reply = { turn: { text: "ok" } };

export function conversationContract(wire: Wire): void {
  const run = createRunner(wire);

  describe(`${wire.name}: calls`, () => {
    test("that claim the same index are two calls, each with its own arguments", async () => {
      const { ran, outlines } = await run([{ body: wire.oneIndex }, ok]);
      expect(ran).toEqual(['read {"path":"1"}', 'read {"path":"2"}']);
      expect(outlines[1]).toEqual([
        "user do it",
        "assistant +a +b",
        'result a ran {"path":"1"}',
        'result b ran {"path":"2"}',
      ]);
    });

    test("without arguments run with none, whatever reason the answer ends with", async () => {
      const { ran, status } = await run([{ turn: { calls: [callOf("a", "bash", "")], finish: "stop" } }, ok]);
      expect({ ran, status }).toEqual({ ran: ["bash {}"], status: "done" });
    });

    test("that the reason promises but nobody made are an empty answer, asked for once", async () => {
      const { error, requests } = await run([{ turn: { finish: "tool_calls" } }], { maxRetries: 3 });
      expect({ code: error?.code, asked: requests.length }).toEqual({ code: "empty_answer", asked: 1 });
    });

    test.each(["length", "tool_calls"])("cut by the output limit under the reason '%s' are not run", async (finish) => {
      const cut: Reply = { turn: { calls: [callOf("a", "bash", '{"path":"README.md","content":"# a')], finish } };
      const { ran, outlines, status } = await run([cut, ok]);
      expect({ ran, status }).toEqual({ ran: [], status: "done" });
      expect(outlines[1]).toEqual([
        "user do it",
        "assistant +a",
        expect.stringMatching(/^result a Error: not run: .*output limit cut this call off.*smaller/),
      ]);
    });

    test("cut by the output limit three times in a row end the run", async () => {
      const { error, requests } = await run(() => ({
        turn: { calls: [callOf("a", "bash", '{"content":"# a')], finish: "length" },
      }));
      expect({ code: error?.code, asked: requests.length }).toEqual({ code: "output_limit", asked: 3 });
    });

    test("keep their ids byte for byte on the way back", async () => {
      const ids = ["functions.bash:0", "functions.bash:1"];
      const { outlines } = await run([{ turn: { calls: ids.map((id) => callOf(id)) } }, ok]);
      expect(outlines[1]).toEqual([
        "user do it",
        "assistant +functions.bash:0 +functions.bash:1",
        'result functions.bash:0 ran {"n":1}',
        'result functions.bash:1 ran {"n":1}',
      ]);
    });

    test("with colliding or empty ids get ones of their own, the same on call and result", async () => {
      const calls = ["exec:2", "exec:2", ""].map((id, n) => callOf(id, "bash", { n }));
      const { ran, outlines } = await run([{ turn: { calls } }, ok]);
      expect(ran).toEqual(['bash {"n":0}', 'bash {"n":1}', 'bash {"n":2}']);
      expect(outlines[1]).toEqual([
        "user do it",
        "assistant +exec:2 +exec:2_2 +call_2",
        'result exec:2 ran {"n":0}',
        'result exec:2_2 ran {"n":1}',
        'result call_2 ran {"n":2}',
      ]);
    });
  });

  describe(`${wire.name}: a history`, () => {
    test("saved and loaded again gives the same bytes", async () => {
      const history: Message[] = [];
      await using server = await startReplayServer([
        { turn: { reasoning: "hm", text: "look", calls: [callOf("functions.bash:0"), callOf("")] } },
        { turn: { text: "done 北🌍" } },
        ok,
        ok,
      ]);
      const partner = createPartner(wire, server.url, { quirks: { reasoningReplay: "required" } });
      await partner({ history });
      const loaded = JSON.parse(JSON.stringify(history)).map((message: unknown) => Message.parse(message));
      await partner({ history, prompt: "and now?" });
      await partner({ history: loaded, prompt: "and now?" });
      expect(server.problems).toEqual([]);
      expect(server.requests[3]?.text).toBe(server.requests[2]?.text as string);
      expect(wire.outline(server.requests[3]?.body)[1]).toBe("assistant (hm) look +functions.bash:0 +call_1");
    });

    test("with a call that has no result gets one that says so, and orphan results go", async () => {
      const history = [
        toolResult("nobody", "orphan"),
        user("run both"),
        assistant([toolCall("a"), toolCall("b")]),
        toolResult("a", "fine"),
      ];
      const { outlines, status } = await run([ok], { history });
      expect(status).toBe("done");
      expect(outlines[0]).toEqual([
        "user run both",
        "assistant +a +b",
        "result a fine",
        "result b Error: interrupted before it finished; there is no result",
        "user do it",
      ]);
    });

    test("after an abort in the middle of a call holds nothing of that call", async () => {
      const controller = new AbortController();
      const history: Message[] = [];
      await using server = await startReplayServer([{ body: wire.half, ending: "silent" }, ok]);
      const partner = createPartner(wire, server.url, { history });
      await partner({
        signal: controller.signal,
        onEvent: (event) =>
          event.type === "message_update" &&
          event.assistantMessageEvent.type === "toolcall_delta" &&
          controller.abort(),
      });
      await partner({ prompt: "go on" });
      expect(server.problems).toEqual([]);
      expect(server.requests[1]?.text).not.toContain('"cut"');
      expect(wire.outline(server.requests[1]?.body).slice(0, 2)).toEqual(["user do it", "assistant one two"]);
    });

    test("with blank texts is sent without them, and an empty tool output has words", async () => {
      const history = [
        user("  "),
        user("first"),
        assistant(["\n"]),
        user("second"),
        assistant(["", toolCall("a")]),
        toolResult("a", ""),
      ];
      const { outlines, requests } = await run([ok], { history });
      const said = outlines[0]?.join("\n").replace("user first second", "user first\nuser second");
      expect(said?.split("\n")).toEqual([
        "user first",
        "user second",
        "assistant +a",
        "result a (no output)",
        "user do it",
      ]);
      expect(requests).toHaveLength(1);
    });

    test("that ends with an answer ends without its white space", async () => {
      await using server = await startReplayServer([ok]);
      const provider = wire.create(
        { name: "test", baseUrl: server.url, apiKey: "", idleMs: 0, headers: {}, quirks: defaultQuirks },
        (request, signal) => fetch(request.url, { method: "POST", body: request.body, signal }),
      );
      const messages = repairHistory([user("hi"), assistant(["Hello \n"])]);
      const request = { model: testModel, system: "", messages, tools: [], maxTokens: 100 };
      await Array.fromAsync(provider.stream(request, new AbortController().signal));
      expect(server.problems).toEqual([]);
      expect(wire.outline(server.requests[0]?.body).slice(0, 2)).toEqual(["user hi", "assistant Hello"]);
    });

    test("of another provider loses what only that one understands", async () => {
      const history = [
        user("hi"),
        assistant(
          [
            { type: "thinking", thinking: "secret", thinkingSignature: "reasoning_content" },
            { ...toolCall("functions_bash_0"), extraContent: { google: { thought_signature: "S" } } },
          ],
          { provider: "elsewhere" },
        ),
        toolResult("functions_bash_0", "fine"),
      ];
      const { requests, outlines } = await run([ok], { history });
      expect(outlines[0]?.slice(1, 3)).toEqual(["assistant +functions_bash_0", "result functions_bash_0 fine"]);
      expect(requests[0]?.text).not.toMatch(/secret|extra_content|thought_signature/);
    });
  });

  describe(`${wire.name}: from request to request`, () => {
    const specs = ["read", "bash"].map((name) => ({
      name,
      description: `${name}s`,
      parameters: { type: "object", properties: { n: { type: ["number", "null"], exclusiveMinimum: 0 } } },
    }));

    test("the bytes of prompt, tools and old messages stay the same", async () => {
      const history: Message[] = [];
      await using server = await startReplayServer([
        { turn: { reasoning: "hm", text: "look", calls: [callOf("a"), callOf("b")] } },
        { turn: { calls: [callOf("c")] } },
        ok,
        ok,
      ]);
      const partner = createPartner(wire, server.url, { history, specs });
      await partner();
      await partner({ prompt: "more" });
      expect(server.problems).toEqual([]);
      const parts = server.requests.map(({ body, text }) => ({
        // Where the marks of the prompt cache sit is no part of what is cached.
        messages: withoutMarks(JSON.stringify(body.messages)).slice(0, -1),
        before: text.slice(0, text.indexOf('"messages":[')),
        tools: JSON.stringify(body.tools),
      }));
      for (const [i, { messages, before, tools }] of parts.entries()) {
        expect({ before, tools }).toEqual({ before: parts[0]?.before as string, tools: parts[0]?.tools as string });
        if (i > 0) expect(messages).toStartWith(parts[i - 1]?.messages as string);
      }
      expect(parts).toHaveLength(4);
    });

    test("cached tokens are seen, and cost what the model's table says", async () => {
      const { history } = await run([{ turn: { text: "ok", usage: { prompt: 1000, completion: 10, cached: 800 } } }]);
      expect(history[1]).toMatchObject({
        usage: {
          input: 200,
          output: 10,
          cacheRead: 800,
          cacheWrite: 0,
          totalTokens: 1010,
          cost: { input: 0.0002, output: 0.00002, cacheRead: 0.00008, total: expect.closeTo(0.0003, 12) },
        },
      });
    });

    test("a temperature is sent only when one is set", async () => {
      const [without, set] = [await run([ok]), await run([ok], { temperature: 0.2 })];
      expect(without.requests[0]?.body).not.toHaveProperty("temperature");
      expect(set.requests[0]?.body.temperature).toBe(0.2);
    });

    test("one answer does not wait for another", async () => {
      const { opened, open } = gate();
      await using server = await startReplayServer(({ text }) =>
        text.includes("slow") ? { body: [...wire.firstWord, opened], ending: "fin" } : ok,
      );
      const partner = createPartner(wire, server.url);
      const slow = partner({ prompt: "slow" });
      await server.request(0);
      expect((await partner({ prompt: "quick" })).text).toBe("ok");
      open();
      expect((await slow).status).toBe("error");
    });
  });
}

const mark = ',"cache_control":{"type":"ephemeral"}';

function withoutMarks(json: string): string {
  return json.replaceAll(mark, "");
}
