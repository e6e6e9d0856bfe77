// The calls that the gate refused, as the last event of a prompt lists them.
import { expect, test } from "bun:test";
import { createApp } from "../../src/app/create-app.ts";
import { loadPermissions } from "../../src/app/permissions.ts";
import { type Flags, resolveConfig } from "../../src/config/config.ts";
import type { Answer } from "../../src/permission/gate.ts";
import { AgentEvent } from "../../src/protocol/event.ts";
import { createScriptedProvider, type ScriptedCall, testModel, turn } from "../helpers/scripted-provider.ts";
import { tmp } from "../helpers/tmp.ts";

const known = { ...testModel, name: "scripted", keyEnv: "", defaultModel: testModel.id, models: [testModel] };

async function run(calls: readonly ScriptedCall[], answer: Answer, flags: Flags = {}) {
  await using dir = tmp();
  const config = resolveConfig(
    { contextFiles: false, ...flags },
    { PI_TS_HOME: dir.file("home") },
    [],
    [known],
    "scripted",
  );
  const events: AgentEvent[] = [];
  const provider = createScriptedProvider([turn({ calls }), turn({ text: "done" })]);
  const app = createApp({
    config,
    permissions: await loadPermissions(config, dir.path, {}),
    provider,
    cwd: dir.path,
    env: { PATH: process.env.PATH },
    ask: async () => answer,
    onBug: (error) => {
      throw error;
    },
    notify: () => {},
  });
  app.subscribe((event) => events.push(event));
  const outcome = await app.prompt("go");
  return { outcome, last: events.at(-1), offered: provider.requests[0]?.tools.map(({ name }) => name) };
}

const bash = (id: string, command: string): ScriptedCall => ({ id, name: "bash", args: { command } });

test("each is there with its tool, what it was about and the reason the model was given", async () => {
  const { outcome, last } = await run(
    [bash("a", "make it"), bash("b", "rm x")],
    { choice: "nobody" },
    { deny: ["bash(rm)"] },
  );
  const deniedCalls = [
    { toolCallId: "a", toolName: "bash", summary: "make it", reason: expect.stringContaining("nobody can be asked") },
    {
      toolCallId: "b",
      toolName: "bash",
      summary: "rm x",
      reason: expect.stringContaining("the rule bash(rm) from --deny"),
    },
  ];
  expect(last).toEqual({ type: "agent_settled", aborted: false, deniedCalls });
  expect(AgentEvent.parse(last)).toEqual(last as AgentEvent);
  expect(outcome.denied).toEqual(deniedCalls);
});

test("without any, nothing is said of them", async () => {
  const { last } = await run([bash("a", "true")], { choice: "once" });
  expect(last).toEqual({ type: "agent_settled", aborted: false });
});

test("a tool that is not offered is refused as well when the model names it", async () => {
  const { last, offered } = await run([bash("a", "true")], { choice: "once" }, { tools: "read", yolo: true });
  expect(offered).toEqual(["read"]);
  expect(last).toMatchObject({
    deniedCalls: [{ toolName: "bash", reason: expect.stringContaining("not among --tools") }],
  });
});
