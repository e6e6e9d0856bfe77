// The layers of a configuration: which provider and model a run gets, what is known of them, and where each setting comes from.
import { describe, expect, test } from "bun:test";
import {
  type Config,
  type Flags,
  type KnownProvider,
  requireKey,
  requirePrice,
  resolveConfig,
} from "../../src/config/config.ts";
import type { ConfigFile } from "../../src/config/file.ts";
import type { Environment } from "../../src/util/environment.ts";
import { AppError } from "../../src/util/error.ts";

const cost = { input: 1, output: 2, cacheRead: 0.1, cacheWrite: 1.25 };
const catalog: readonly KnownProvider[] = [
  {
    name: "alpha",
    baseUrl: "https://alpha.test/v1",
    keyEnv: "ALPHA_KEY",
    api: "anthropic-messages",
    defaultModel: "a1",
    models: [
      {
        id: "a1",
        contextWindow: 1000,
        maxTokens: 10_000,
        reasoning: true,
        thinkingLevels: ["low", "high"],
        adaptiveThinking: true,
        input: ["text", "image"],
        cost,
      },
      { id: "shared" },
    ],
  },
  {
    name: "beta",
    baseUrl: "https://beta.test/v1",
    keyEnv: "BETA_KEY",
    api: "openai-completions",
    defaultModel: "b1",
    models: [{ id: "b1", maxTokens: 100 }, { id: "b2" }, { id: "shared" }],
  },
];

/** Of several files the first counts most. */
function resolve(flags: Flags = {}, env: Environment = {}, ...files: ConfigFile[]): Config {
  const loaded = files.map((content, i) => ({ path: `/home/${i}/config.toml`, content }));
  return resolveConfig(flags, { PI_TS_HOME: "/home", ...env }, loaded, catalog, "alpha");
}

/** The failure as its class and words. */
function failure(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (error instanceof AppError) return `${error.code}: ${error.message}`;
    throw error;
  }
  return "none";
}

describe("provider and model", () => {
  const mine: ConfigFile = { providers: { mine: { base_url: "http://mine.test", models: ["m1", { id: "m2" }] } } };
  test.each<[string, Flags, Environment, ConfigFile, string]>([
    ["by default", {}, {}, {}, "alpha a1"],
    ["a provider brings its default model", { provider: "beta" }, {}, {}, "beta b1"],
    ["a model of one provider brings that", { model: "b2" }, {}, {}, "beta b2"],
    ["a model of several providers stays with the default", { model: "shared" }, {}, {}, "alpha shared"],
    ["a model that nobody knows stays with the default", { model: "new" }, {}, {}, "alpha new"],
    ["a flag over the environment over the file", { model: "x" }, { PI_MODEL: "y" }, { model: "z" }, "alpha x"],
    ["the environment over the file", {}, { PI_PROVIDER: "beta" }, { provider: "alpha" }, "beta b1"],
    ["the file", {}, {}, { provider: "beta", model: "b2" }, "beta b2"],
    ["empty variables are none", {}, { PI_PROVIDER: "", PI_MODEL: "" }, { provider: "beta" }, "beta b1"],
    ["both in one word", { model: "beta/b2" }, {}, {}, "beta b2"],
    ["both in one word, over a lower provider", { model: "beta/b2" }, { PI_PROVIDER: "alpha" }, {}, "beta b2"],
    ["a slash that belongs to the model", { model: "org/name" }, {}, {}, "alpha org/name"],
    ["a slash under a provider of its own", { provider: "beta", model: "alpha/a1" }, {}, {}, "beta alpha/a1"],
    ["a lower model of another provider is left aside", { provider: "beta" }, { PI_MODEL: "a1" }, {}, "beta b1"],
    ["a lower model that nobody knows is kept", { provider: "beta" }, { PI_MODEL: "new" }, {}, "beta new"],
    ["a higher model of another provider is kept", { model: "a1" }, { PI_PROVIDER: "beta" }, {}, "beta a1"],
    ["an own provider brings its first model", { provider: "mine" }, {}, mine, "mine m1"],
    ["an own provider in one word", { model: "mine/m2" }, {}, mine, "mine m2"],
  ])("%s", (_name, flags, env, file, expected) => {
    const { provider, model } = resolve(flags, env, file);
    expect(`${provider.name} ${model.id}`).toBe(expected);
    expect([model.provider, model.api, model.baseUrl]).toEqual([provider.name, provider.api, provider.baseUrl]);
  });

  test.each<[string, Flags, ConfigFile, string]>([
    ["an unknown provider", { provider: "nobody" }, {}, "usage: Unknown provider 'nobody' on the command line"],
    ["an unknown provider of the file", {}, { provider: "nobody" }, "usage: Unknown provider 'nobody' in config.toml"],
    ["an empty model", { model: "" }, {}, "usage: The model named on the command line is empty"],
    [
      "one without an address",
      { provider: "mine" },
      { providers: { mine: { models: ["m"] } } },
      "config: Provider mine has no base_url",
    ],
    [
      "one without a model",
      { provider: "mine" },
      { providers: { mine: { base_url: "http://m" } } },
      "usage: Provider mine has no default model",
    ],
    ["an address of another kind", { baseUrl: "ftp://x" }, {}, "usage: 'ftp://x' is not an http or https URL"],
    ["no address at all", { baseUrl: "localhost:1" }, {}, "usage: 'localhost:1' is not an http or https URL"],
  ])("%s is an error", (_name, flags, file, expected) => {
    expect(failure(() => resolve(flags, {}, file))).toBe(expected);
  });
});

describe("what is known of a model", () => {
  test("comes from the catalog", () => {
    expect(resolve().model).toEqual({
      id: "a1",
      name: "a1",
      api: "anthropic-messages",
      provider: "alpha",
      baseUrl: "https://alpha.test/v1",
      reasoning: true,
      thinkingLevels: ["low", "high"],
      adaptiveThinking: true,
      input: ["text", "image"],
      cost,
      contextWindow: 1000,
      maxTokens: 10_000,
    });
  });

  test("is little of one that nobody knows", () => {
    expect(resolve({ model: "new" }).model).toMatchObject({
      reasoning: false,
      input: ["text"],
      cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
      contextWindow: 128_000,
      maxTokens: 16_384,
    });
  });

  test("is what config.toml says, over the catalog", () => {
    const table = { id: "a1", context_window: 5, max_tokens: 3, reasoning: false, input: ["text" as const] };
    const file = { providers: { alpha: { models: [{ ...table, cost: { input: 7, output: 8 } }] } } };
    expect(resolve({}, {}, file).model).toMatchObject({
      reasoning: false,
      input: ["text"],
      cost: { input: 7, output: 8, cacheRead: 0, cacheWrite: 0 },
      contextWindow: 5,
      maxTokens: 3,
    });
  });
});

describe("a provider", () => {
  test("has the address, API, key and limits of the highest layer that names them", () => {
    const file: ConfigFile = {
      providers: {
        beta: {
          base_url: "http://proxy.test/v1/",
          api: "anthropic-messages",
          api_key_env: "OTHER_KEY",
          first_byte_timeout: 1.5,
          idle_timeout: 0,
          max_tokens_field: "max_completion_tokens",
          reasoning_replay: "required",
        },
      },
    };
    const { provider } = resolve({ provider: "beta" }, { OTHER_KEY: "k", BETA_KEY: "wrong" }, file);
    expect(provider).toMatchObject({
      name: "beta",
      baseUrl: "http://proxy.test/v1",
      api: "anthropic-messages",
      keyEnv: "OTHER_KEY",
      apiKey: "k",
      firstByteMs: 1500,
      idleMs: 0,
      quirks: { max_tokens_field: "max_completion_tokens", reasoning_replay: "required" },
    });
    const limits = { PI_FIRST_BYTE_TIMEOUT: "0", PI_IDLE_TIMEOUT: "2.5", PI_BASE_URL: "http://env.test" };
    const above = resolve({ provider: "beta", apiKey: "flag" }, limits, file).provider;
    expect(above).toMatchObject({ baseUrl: "http://env.test", apiKey: "flag", firstByteMs: 0, idleMs: 2500 });
    expect(resolve({ provider: "beta", baseUrl: "http://flag.test" }, limits, file).provider.baseUrl).toBe(
      "http://flag.test",
    );
  });

  test("has ten minutes for its first byte and five between bytes unless told otherwise", () => {
    expect(resolve().provider).toMatchObject({ firstByteMs: 600_000, idleMs: 300_000, quirks: {} });
  });

  test("has no longer limit than a timer can hold", () => {
    const limits = { PI_FIRST_BYTE_TIMEOUT: "1e12", PI_IDLE_TIMEOUT: "2147484" };
    expect(resolve({}, limits).provider).toMatchObject({ firstByteMs: 2 ** 31 - 1, idleMs: 2 ** 31 - 1 });
  });

  test("without a key says which variable to set; one of config.toml that names none needs none", () => {
    expect(failure(() => requireKey(resolve().provider))).toBe(
      "missing_key: No API key for provider alpha: set $ALPHA_KEY",
    );
    expect(failure(() => requireKey(resolve({}, { ALPHA_KEY: "" }).provider))).toStartWith("missing_key");
    const file = { provider: "mine", providers: { mine: { base_url: "http://m", models: ["m"] } } };
    expect(requireKey(resolve({}, {}, file).provider)).toBe("");
    expect(requireKey(resolve({}, { ALPHA_KEY: " k\n" }).provider)).toBe("k");
    expect(failure(() => requireKey(resolve({}, { ALPHA_KEY: '"k 1"' }).provider))).toStartWith("config: The API key");
  });

  test("without a key says that another provider can be chosen: whoever has only its key may not know", () => {
    expect(() => requireKey(resolve().provider)).toThrow(
      expect.objectContaining({ hint: expect.stringContaining("--provider chooses another provider") }),
    );
  });

  test("the variables of all keys are known, so that no command gets them", () => {
    const file = {
      providers: { mine: { api_key_env: "MINE_KEY", headers: { "x-a": "$GATE_TOKEN", "x-b": "$TEAM" } } },
    };
    const { keyVariables } = resolve({}, { GATE_TOKEN: "g", TEAM: "t" }, file);
    expect(keyVariables).toEqual(["ALPHA_KEY", "BETA_KEY", "MINE_KEY", "GATE_TOKEN"]);
  });
});

describe("settings", () => {
  const pick = ({
    maxTokens,
    maxTurns,
    maxToolOutput,
    maxRetries,
    thinkingLevel,
    temperature,
    quiet,
    markdown,
  }: Config) => ({
    maxTokens,
    maxTurns,
    maxToolOutput,
    maxRetries,
    thinkingLevel,
    temperature,
    quiet,
    markdown,
  });
  const defaults = {
    maxTokens: 8192,
    maxTurns: 100,
    maxToolOutput: 100_000,
    maxRetries: 3,
    thinkingLevel: undefined,
    temperature: undefined,
    quiet: false,
    markdown: true,
  };
  const file: ConfigFile = {
    max_tokens: 1,
    max_turns: 2,
    max_tool_output: 3,
    max_retries: 0,
    thinking: "low",
    temperature: 0.5,
    quiet: true,
    markdown: false,
  };
  const fromFile = {
    maxTokens: 1,
    maxTurns: 2,
    maxToolOutput: 3,
    maxRetries: 0,
    thinkingLevel: "low",
    temperature: 0.5,
    quiet: true,
    markdown: false,
  };
  const flags: Flags = {
    maxTokens: "10",
    maxTurns: "20",
    maxToolOutput: "30",
    maxRetries: "0",
    thinking: "off",
    quiet: false,
    markdown: true,
  };

  test.each<[string, Flags, Environment, ConfigFile, object]>([
    ["by default", {}, {}, {}, defaults],
    ["by default, of a model that answers with less", { provider: "beta" }, {}, {}, { ...defaults, maxTokens: 100 }],
    ["of the file", {}, {}, file, fromFile],
    ["of the environment over the file", {}, { PI_MAX_TOKENS: "5" }, file, { ...fromFile, maxTokens: 5 }],
    [
      "of flags over everything",
      flags,
      { PI_MAX_TOKENS: "5" },
      { ...file, max_retries: 9 },
      {
        maxTokens: 10,
        maxTurns: 20,
        maxToolOutput: 30,
        maxRetries: 0,
        thinkingLevel: "off",
        temperature: 0.5,
        quiet: false,
        markdown: true,
      },
    ],
  ])("%s", (_name, given, env, configured, expected) => {
    expect(pick(resolve(given, env, configured))).toEqual(expected as never);
  });

  test.each<[string, Flags, ConfigFile, object]>([
    ["none by default", {}, {}, { maxToolCalls: undefined, timeoutMs: undefined, maxCost: undefined }],
    [
      "of the file, a time as seconds or as a text",
      {},
      { max_tool_calls: 5, timeout: 90, max_cost: 0.5 },
      { maxToolCalls: 5, timeoutMs: 90_000, maxCost: 0.5 },
    ],
    [
      "of flags over the file",
      { maxToolCalls: "6", timeout: "1h", maxCost: "2" },
      { max_tool_calls: 5, timeout: "10m", max_cost: 0.5 },
      { maxToolCalls: 6, timeoutMs: 3_600_000, maxCost: 2 },
    ],
  ])("limits: %s", (_name, given, configured, expected) => {
    const { maxToolCalls, timeoutMs, maxCost } = resolve(given, {}, configured);
    expect({ maxToolCalls, timeoutMs, maxCost }).toEqual(expected as never);
  });

  test("a wrong time in the file names the file's key", () => {
    expect(failure(() => resolve({}, {}, { timeout: "soon" }))).toStartWith("config: timeout in config.toml must be");
  });

  test("a limit on the cost needs a model whose price is known", () => {
    const priced = { models: [{ id: "b1", cost: { input: 0, output: 0 } }] };
    const of = (flags: Flags, file: ConfigFile = {}) => requirePrice(resolve({ maxCost: "1", ...flags }, {}, file));
    expect(failure(() => of({ provider: "alpha", model: "a1" }))).toBe("none");
    expect(failure(() => of({ provider: "beta", model: "b1" }))).toContain("what beta/b1 costs is not known");
    expect(failure(() => of({ provider: "beta", model: "b1" }, { providers: { beta: priced } }))).toBe("none");
  });

  test.each<[Flags, Environment, string]>([
    [{ maxTokens: "0" }, {}, "--max-tokens must be a whole number above 0, not '0'"],
    [{ maxTurns: "-1" }, {}, "--max-turns must be a whole number above 0, not '-1'"],
    [{ maxToolOutput: "1.5" }, {}, "--max-tool-output must be a whole number above 0, not '1.5'"],
    [{ maxRetries: "-1" }, {}, "--max-retries must be a whole number, 0 or more, not '-1'"],
    [{ maxRetries: "many" }, {}, "--max-retries must be a whole number, 0 or more, not 'many'"],
    [{ thinking: "hard" }, {}, "--thinking must be one of off, minimal, low, medium, high, xhigh, max, not 'hard'"],
    [{ maxToolCalls: "0" }, {}, "--max-tool-calls must be a whole number above 0, not '0'"],
    [{ maxCost: "free" }, {}, "--max-cost must be US dollars above 0, such as 0.50, not 'free'"],
    [{ timeout: "25d" }, {}, "--timeout must be a time above 0 such as 90, 90s, 10m or 1h, at most 24 days, not '25d'"],
    [{}, { PI_MAX_TOKENS: "x" }, "PI_MAX_TOKENS must be a whole number above 0, not 'x'"],
    [{}, { PI_IDLE_TIMEOUT: "-1" }, "PI_IDLE_TIMEOUT must be seconds, 0 or more, not '-1'"],
    [{}, { PI_FIRST_BYTE_TIMEOUT: "soon" }, "PI_FIRST_BYTE_TIMEOUT must be seconds, 0 or more, not 'soon'"],
  ])("%j with %j are refused", (given, env, message) => {
    expect(failure(() => resolve(given, env))).toBe(`usage: ${message}`);
  });

  test("of a nearer file count over those of a farther one, a provider's key by key", () => {
    const near: ConfigFile = {
      max_turns: 7,
      providers: { alpha: { idle_timeout: 1, ca: "ca.pem" }, mine: { base_url: "http://m", models: ["m"] } },
    };
    const far: ConfigFile = {
      max_turns: 8,
      max_tokens: 9,
      providers: { alpha: { idle_timeout: 2, first_byte_timeout: 3, client_cert: "c.pem" } },
    };
    const { maxTurns, maxTokens, provider } = resolve({}, {}, near, far);
    expect({ maxTurns, maxTokens }).toEqual({ maxTurns: 7, maxTokens: 9 });
    expect(provider).toMatchObject({
      idleMs: 1000,
      firstByteMs: 3000,
      tls: { ca: "/home/0/ca.pem", clientCert: "/home/1/c.pem", clientKey: undefined },
    });
    expect(resolve({ provider: "mine" }, {}, near, far).model.id).toBe("m");
  });

  test("are frozen", () => {
    expect(Object.isFrozen(resolve())).toBe(true);
  });
});
