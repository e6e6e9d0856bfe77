// `/model` and `/thinking`: what the next request asks, and of whom.
import { expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { startReplayServer } from "../helpers/replay-server.ts";
import { tmp } from "../helpers/tmp.ts";
import { openRepl } from "./start-repl.ts";

const answer = (text: string) => ({ turn: { text, usage: { prompt: 10, completion: 5 } } });

/** A conversation with the two models of one server of its own. */
async function withModels(answers: readonly string[], home: string) {
  const server = await startReplayServer(answers.map(answer));
  mkdirSync(`${home}/.pi-ts`, { recursive: true });
  const models = [
    { id: "small", reasoning: false, context_window: 32_000 },
    { id: "large-thinker", reasoning: true, context_window: 200_000 },
  ].map(
    (fields) =>
      `[[providers.own.models]]\n${Object.entries(fields)
        .map(([key, value]) => `${key} = ${JSON.stringify(value)}`)
        .join("\n")}`,
  );
  const table = `[providers.own]\nbase_url = "${server.url}"\n${models.join("\n")}\n`;
  writeFileSync(`${home}/.pi-ts/config.toml`, `provider = "own"\nmodel = "small"\n${table}`);
  const repl = await openRepl(server, {
    home,
    env: { PI_PROVIDER: undefined, PI_BASE_URL: undefined, OPENAI_API_KEY: undefined },
  });
  await repl.ready();
  return { server, repl };
}

test("/model changes to a model by a part of its name, /thinking how much it thinks", async () => {
  await using dir = tmp();
  const { server, repl } = await withModels(["one", "two"], dir.path);
  await using _ = server;
  await using __ = repl;
  repl.enter("/thinking high");
  await repl.waitFor("own/small does not think.");
  repl.enter("hello");
  await repl.waitFor("one");
  await repl.ready();
  repl.enter("/model THINK");
  await repl.waitFor("own/large-thinker answers from now on.");
  repl.enter("/thinking much");
  await repl.waitFor("own/large-thinker does not know 'much', but off, minimal, low, medium, high.");
  repl.enter("/thinking high");
  await repl.waitFor("Thinking: high");
  repl.enter("again");
  await repl.waitFor("two");
  expect(server.requests.map(({ body }) => [body.model, body.reasoning_effort])).toEqual([
    ["small", undefined],
    ["large-thinker", "high"],
  ]);
  expect(server.problems).toEqual([]);
});

test("/model alone lists the models to choose from, and says what it does not know", async () => {
  await using dir = tmp();
  const { server, repl } = await withModels(["one"], dir.path);
  await using _ = server;
  await using __ = repl;
  repl.enter("/model nothing-like-it");
  await repl.waitFor("No model has 'nothing-like-it' in its name.");
  repl.enter("/model");
  await repl.waitFor(/1 {2}own\/small +window 32k {2}now\s+2 {2}own\/large-thinker {2}window 200k/);
  repl.enter("2");
  await repl.waitFor("own/large-thinker answers from now on.");
  repl.enter("/model");
  await repl.waitFor(/window 200k {2}now/);
  repl.enter("");
  await repl.waitFor("The model stays as it is.");
  repl.enter("hello");
  await repl.waitFor("one");
  expect(server.requests[0]?.body.model).toBe("large-thinker");
});
