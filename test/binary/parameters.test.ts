// What the compiled binary asks of a model beside the conversation: how hard to think, and parameters that a server does not take.
import { describe, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { catalog } from "../../src/providers/catalog.ts";
import { type Reply, refusal, startReplayServer } from "../helpers/replay-server.ts";
import { runCli } from "../helpers/run-cli.ts";
import { tmp } from "../helpers/tmp.ts";
import { reach } from "../helpers/wire.ts";

const ok: Reply = { turn: { reasoning: "hm", text: "ok" } };

async function run(provider: string, script: readonly Reply[], args: readonly string[] = [], config = "") {
  const row = catalog.find(({ name }) => name === provider) ?? { keyEnv: "OTHER_KEY" };
  await using home = tmp();
  mkdirSync(home.file(".pi-ts"));
  await using server = await startReplayServer(script);
  writeFileSync(home.file(".pi-ts/config.toml"), config);
  const env = reach({ provider, keyEnv: row.keyEnv }, server.url);
  const result = await runCli(["-p", ...args, "go"], { env, home: home.path });
  expect(server.problems).toEqual([]);
  return { ...result, bodies: server.requests.map(({ body }) => body) };
}

describe("--thinking", () => {
  test.each([
    ["openai", "gpt-6.2-sol", "max", { reasoning_effort: "max" }],
    ["openai", "gpt-4.1", "high", {}],
    ["gemini", "gemini-2.5-flash", "off", { reasoning_effort: "none" }],
    ["deepseek", "deepseek-v4-pro", "off", { thinking: { type: "disabled" } }],
    ["kimi", "kimi-k2.6", "high", { thinking: { type: "enabled" } }],
    [
      "anthropic",
      "claude-opus-5-5",
      "xhigh",
      { thinking: { type: "adaptive", display: "summarized" }, output_config: { effort: "xhigh" } },
    ],
    ["anthropic", "claude-haiku-4-5", "low", { thinking: { type: "enabled", budget_tokens: 2048 } }],
  ])("asks %s's %s for %s in its own words", async (provider, model, level, expected) => {
    const { stdout, code, bodies } = await run(provider, [ok], ["-m", model, "--thinking", level]);
    expect({ stdout, code }).toEqual({ stdout: "ok\n", code: 0 });
    const { reasoning_effort, thinking, output_config } = bodies[0];
    expect(JSON.parse(JSON.stringify({ reasoning_effort, thinking, output_config }))).toEqual(expected);
  });

  test("in config.toml counts until the flag says otherwise", async () => {
    const config = 'thinking = "low"\n';
    const [asked, flagged] = [
      await run("openai", [ok], [], config),
      await run("openai", [ok], ["--thinking", "high"], config),
    ];
    expect([asked, flagged].map(({ bodies }) => bodies[0].reasoning_effort)).toEqual(["low", "high"]);
  });

  test("of an unknown level is a usage error", async () => {
    const { code, stderr, bodies } = await run("openai", [], ["--thinking", "hard"]);
    expect({ code, bodies }).toEqual({ code: 2, bodies: [] });
    expect(stderr).toContain("--thinking must be one of off, minimal, low, medium, high, xhigh, max, not 'hard'");
  });
});

describe("a parameter that is refused", () => {
  const unsupported = (name: string) =>
    refusal(400, { error: { message: `Unsupported parameter: '${name}' is not supported with this model.` } });

  test("is asked for by its other name, and stderr says which key saves the detour", async () => {
    const { stdout, stderr, code, bodies } = await run("openai", [unsupported("max_completion_tokens"), ok]);
    expect({ stdout, code }).toEqual({ stdout: "ok\n", code: 0 });
    expect(bodies[1].max_tokens).toBe(8192);
    expect(stderr).toContain('providers.openai.max_tokens_field = "max_tokens" in config.toml');
  });

  test("is shown with the key that changes it where there is no other name", async () => {
    const { stdout, stderr, code } = await run("openai", [unsupported("reasoning_effort")], ["--thinking", "low"]);
    expect({ stdout, code }).toEqual({ stdout: "", code: 1 });
    expect(stderr).toContain("Unsupported parameter: 'reasoning_effort'");
    expect(stderr).toContain("providers.openai.thinking_format in config.toml");
  });
});

test("gemini gets every tool of ours in its own schema", async () => {
  const { code, stderr, bodies } = await run("gemini", [ok]);
  const own = await run("openai", [ok]);
  const names = (body: { tools: { function: { name: string } }[] }) => body.tools.map((tool) => tool.function.name);
  expect({ code, tools: names(bodies[0]) }).toEqual({ code: 0, tools: names(own.bodies[0]) });
  expect(stderr).not.toContain("left out");
  expect(JSON.stringify(bodies[0].tools)).not.toMatch(/additionalProperties|\$schema|exclusiveM/);
});
