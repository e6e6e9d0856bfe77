// RPC mode: models and thinking levels, chosen by the client.
import { expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { type Reply, startReplayServer } from "../helpers/replay-server.ts";
import { startRpc } from "../helpers/rpc-client.ts";
import { tmp } from "../helpers/tmp.ts";

const said = (text: string): Reply => ({ turn: { text } });

/** A home whose provider `mine`, at `url`, needs no key and has two models; `locked` needs a key that is not there. */
function writeConfig(home: string, url: string): void {
  mkdirSync(`${home}/.pi-ts`, { recursive: true });
  writeFileSync(
    `${home}/.pi-ts/config.toml`,
    `provider = "mine"
[providers.mine]
base_url = "${url}"
models = ["small", { id = "deep", reasoning = true }]
[providers.locked]
base_url = "http://127.0.0.1:1/v1"
api_key_env = "LOCKED_KEY"
models = ["far"]
`,
  );
}

test("models can be listed, chosen and cycled through, and the session remembers them", async () => {
  await using dir = tmp();
  await using server = await startReplayServer([said("1"), said("2")]);
  const home = dir.file("home");
  writeConfig(home, server.url);
  await using rpc = startRpc([], { home });
  const { models } = await rpc.ask("get_available_models");
  expect(models.map(({ provider, id }) => `${provider}/${id}`)).toEqual(["mine/small", "mine/deep"]);
  expect((await rpc.ask("get_state")).model).toEqual(models[0] as never);
  await rpc.prompt("hi");
  expect(await rpc.ask("cycle_model")).toEqual({ model: models[1] as never, thinkingLevel: "off", isScoped: false });
  await rpc.prompt("hi");
  expect(server.requests.map(({ body }) => body.model)).toEqual(["small", "deep"]);
  expect(await rpc.ask("set_model", { provider: "mine", modelId: "small" })).toEqual(models[0] as never);
  const { entries } = await rpc.ask("get_entries");
  expect(entries.flatMap((entry) => (entry.type === "model_change" ? [entry.modelId] : []))).toEqual([
    "small",
    "deep",
    "small",
  ]);

  const unknown = await rpc.send({ type: "set_model", provider: "mine", modelId: "nope" });
  expect(unknown).toMatchObject({ success: false, error: "Model not found: mine/nope" });
  const locked = await rpc.send({ type: "set_model", provider: "locked", modelId: "far" });
  expect(locked).toMatchObject({ success: false, error: expect.stringContaining("LOCKED_KEY") });
  expect(rpc.problems).toEqual([]);
});

test("thinking levels are those of the model, and a change is told", async () => {
  await using dir = tmp();
  await using server = await startReplayServer([said("1")]);
  const home = dir.file("home");
  writeConfig(home, server.url);
  await using rpc = startRpc([], { home });
  expect(await rpc.ask("get_available_thinking_levels")).toEqual({ levels: ["off"] });
  await rpc.ask("set_thinking_level", { level: "high" });
  expect(await rpc.ask("cycle_thinking_level")).toBeNull();
  expect(rpc.records.filter(({ type }) => type !== "response")).toEqual([]);

  await rpc.ask("set_model", { provider: "mine", modelId: "deep" });
  expect((await rpc.ask("get_available_thinking_levels")).levels).toEqual(["off", "minimal", "low", "medium", "high"]);
  await rpc.ask("set_thinking_level", { level: "high" });
  await rpc.prompt("hi");
  expect(server.requests[0]?.body.reasoning_effort).toBe("high");
  expect(await rpc.ask("cycle_thinking_level")).toEqual({ level: "off" });
  const changes = rpc.records.filter(({ type }) => type === "thinking_level_changed");
  expect(changes.map(({ level }) => level)).toEqual(["high", "off"]);
  const wrong = await rpc.send({ type: "set_thinking_level", level: "enormous" });
  expect(wrong).toMatchObject({ success: false, error: expect.stringContaining(`'level' must be one of "off"`) });
  expect(rpc.problems).toEqual([]);
});

test("without a key it starts, says so when asked, and can change to a model that needs none", async () => {
  await using dir = tmp();
  await using server = await startReplayServer([said("1")]);
  const home = dir.file("home");
  writeConfig(home, server.url);
  await using rpc = startRpc(["--model", "locked/far"], { home });
  const events = await rpc.prompt("hi");
  expect(events.at(-1)).toMatchObject({ error: { code: "missing_key" } });
  await rpc.ask("set_model", { provider: "mine", modelId: "small" });
  await rpc.prompt("hi");
  expect(await rpc.ask("get_last_assistant_text")).toEqual({ text: "1" });
  expect(rpc.problems).toEqual([]);
});

test("--models names those that are cycled through", async () => {
  await using dir = tmp();
  const home = dir.file("home");
  writeConfig(home, "http://127.0.0.1:1/v1");
  await using rpc = startRpc(["--models", "mine/deep:low,mine/small"], { home });
  expect(await rpc.ask("get_state")).toMatchObject({ model: { id: "deep" }, thinkingLevel: "low" });
  expect(await rpc.ask("cycle_model")).toMatchObject({ model: { id: "small" }, isScoped: true, thinkingLevel: "off" });
  expect(await rpc.ask("cycle_model")).toMatchObject({ model: { id: "deep" }, isScoped: true, thinkingLevel: "low" });
});
