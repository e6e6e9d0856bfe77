// A parameter that the Messages API refuses: asked again without it where that is possible, and named with its key where not.
import { expect, test } from "bun:test";
import { type ConverseOptions, createPartner } from "../../helpers/converse.ts";
import { type Reply, refusal, startReplayServer } from "../../helpers/replay-server.ts";
import { messagesWire } from "../../helpers/wire.ts";

const ok: Reply = { turn: { text: "ok" } };
const invalid = (message: string) => refusal(400, { type: "error", error: { type: "invalid_request_error", message } });

async function run(script: readonly Reply[], options: ConverseOptions, prompts: readonly string[] = ["one"]) {
  await using server = await startReplayServer(script);
  const partner = createPartner(messagesWire, server.url, options);
  const outcomes = [];
  for (const prompt of prompts) outcomes.push(await partner({ prompt }));
  expect(server.problems).toEqual([]);
  return { outcomes, temperatures: server.requests.map(({ body }) => body.temperature) };
}

test.each(["`temperature` is deprecated for this model.", "temperature: Extra inputs are not permitted"])(
  "%s: asked again without it, told once and remembered",
  async (message) => {
    const { outcomes, temperatures } = await run([invalid(message), ok, ok], { temperature: 0.2 }, ["one", "two"]);
    expect(outcomes.map(({ status }) => status)).toEqual(["done", "done"]);
    expect(temperatures).toEqual([0.2, undefined, undefined]);
    expect(outcomes.flatMap(({ notices }) => notices)).toEqual([
      "test refused the temperature; asked again without it (it is set in config.toml)",
    ]);
  },
);

test.each<[string, ConverseOptions, string | undefined]>([
  ["`temperature` is deprecated for this model.", {}, "temperature"],
  ["output_config.effort: Extra inputs are not permitted", { temperature: 0.2 }, "thinking"],
  ["messages.1.content.0.thinking: Extra inputs are not permitted", {}, "thinking"],
  ["max_tokens: 99999999 > 64000", { temperature: 0.2 }, undefined],
  ["temperature: range: 0..1", { temperature: 2 }, undefined],
])("%s: not asked again", async (message, options, key) => {
  const { outcomes, temperatures } = await run([invalid(message)], { ...options, maxRetries: 3 });
  expect(temperatures).toHaveLength(1);
  expect(outcomes[0]?.error?.code).toBe("bad_request");
  if (key === undefined) expect(outcomes[0]?.error?.hint).toBeUndefined();
  else expect(outcomes[0]?.error?.hint).toContain(`; ${key} in config.toml changes that.`);
});
