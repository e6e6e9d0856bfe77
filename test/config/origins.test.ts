// Where the values in force come from, where that is not simply the first layer that names them.
import { expect, test } from "bun:test";
import { type Flags, type LoadedFile, resolveConfig } from "../../src/config/config.ts";
import { type Origin, settingsOf } from "../../src/config/origins.ts";
import { catalog, defaultProvider } from "../../src/providers/catalog.ts";
import type { Environment } from "../../src/util/environment.ts";

function origins(flags: Flags, env: Environment = {}, files: readonly LoadedFile[] = []) {
  const config = resolveConfig(flags, env, files, catalog, defaultProvider);
  const settings = settingsOf({ flags, env, files, catalog, defaultProvider, config });
  return Object.fromEntries(settings.map(({ key, value, origin }) => [key, [value, origin]]));
}

const file = (text: string): LoadedFile => {
  return { path: "/home/config.toml", text, content: Bun.TOML.parse(text) as LoadedFile["content"] };
};
const inFile = (line: number): Origin => ({ from: "file", path: "/home/config.toml", line });
const modelFlag: Origin = { from: "flag", flag: "--model" };

test("a model that one provider alone serves brings it along", () => {
  const { provider, model } = origins({ model: "kimi-k3" });
  expect({ provider, model }).toEqual({ provider: ["kimi", { from: "model" }], model: ["kimi-k3", modelFlag] });
});

test("`provider/model` names both, in each layer", () => {
  expect(origins({ model: "kimi/kimi-k3" }).provider).toEqual(["kimi", modelFlag]);
  expect(origins({}, { PI_MODEL: "kimi/kimi-k3" }).provider).toEqual([
    "kimi",
    { from: "environment", variable: "PI_MODEL" },
  ]);
  expect(origins({}, {}, [file('quiet = true\nmodel = "kimi/kimi-k3"')]).provider).toEqual(["kimi", inFile(2)]);
});

test("a model that the provider of a higher layer does not serve counts for nothing", () => {
  const { model } = origins({ provider: "kimi" }, { PI_MODEL: "gpt-6.2-sol" });
  expect(model).toEqual([catalog.find(({ name }) => name === "kimi")?.defaultModel, { from: "default" }]);
});

test("an empty variable is no origin, and a switch that is off has the flag that turned it off", () => {
  const found = origins({ contextFiles: false }, { PI_MAX_TOKENS: "" }, [file("max_tokens = 5")]);
  expect(found.max_tokens).toEqual([5, inFile(1)]);
  expect(found.context_files).toEqual([false, { from: "flag", flag: "--no-context-files" }]);
});

test("of headers only the names are told", () => {
  const table = '[providers.kimi]\nheaders = { "X-Org" = "acme-secret" }';
  const found = origins({ provider: "kimi" }, {}, [file(table)]);
  expect(found["providers.kimi.headers"]).toEqual([["x-org"], inFile(2)]);
});

test("rules are told layer by layer, since all of them count", () => {
  const flags: Flags = { deny: ["bash(rm)"], allow: [] };
  const files = [file('[permissions]\nallow = ["edit"]\ndeny = ["read(.env)"]')];
  const config = resolveConfig(flags, {}, files, catalog, defaultProvider);
  const settings = settingsOf({ flags, env: {}, files, catalog, defaultProvider, config });
  expect(settings.filter(({ key }) => key.startsWith("permissions."))).toEqual([
    { key: "permissions.allow", value: ["edit"], origin: inFile(2) },
    { key: "permissions.deny", value: ["bash(rm)"], origin: { from: "flag", flag: "--deny" } },
    { key: "permissions.deny", value: ["read(.env)"], origin: inFile(3) },
  ]);
});
