// The context of an app: what `/tokens` and the totals say, the warning, and a compaction asked for by hand.
import { expect, test } from "bun:test";
import { createApp } from "../../src/app/create-app.ts";
import { loadPermissions } from "../../src/app/permissions.ts";
import { runCommand } from "../../src/commands/index.ts";
import { resolveConfig } from "../../src/config/config.ts";
import type { Chunk } from "../../src/providers/provider.ts";
import {
  createScriptedProvider,
  hangAfter,
  type ScriptedAnswer,
  testModel,
  turn,
} from "../helpers/scripted-provider.ts";
import { tmp } from "../helpers/tmp.ts";

async function createTestApp(answers: readonly ScriptedAnswer[], quiet = false) {
  await using dir = tmp();
  const known = { ...testModel, name: "scripted", keyEnv: "", defaultModel: testModel.id, models: [testModel] };
  const config = resolveConfig(
    { contextFiles: false, quiet },
    { PI_TS_HOME: dir.file("home") },
    [],
    [known],
    "scripted",
  );
  const notices: string[] = [];
  const app = createApp({
    config,
    permissions: await loadPermissions(config, dir.path, {}),
    provider: createScriptedProvider(answers),
    cwd: dir.path,
    env: {},
    ask: async () => ({ choice: "nobody" }),
    onBug: (error) => {
      throw error;
    },
    notify: (text) => notices.push(text),
  });
  return { app, notices };
}

function counted(input: number, text: string): Chunk[] {
  return [{ type: "usage", counts: { input, output: 10, cacheRead: 0, cacheWrite: 0 } }, ...turn({ text })];
}

test("/tokens shows the window, what is used of it and what is left", async () => {
  const { app } = await createTestApp([counted(24_990, "one")]);
  const before = (await runCommand("/tokens", app))?.text ?? "";
  expect(before).toMatch(/^context window +100,000\nused +[1-9],\d\d\d +\(\d+ %, estimated\)\nleft +9\d,\d\d\d/);
  expect(before).toEndWith("\n\nNo tokens used in this conversation.");
  await app.prompt("hi");
  expect((await runCommand("/tokens", app))?.text?.split("\n").slice(0, 3)).toEqual([
    "context window  100,000",
    "used             25,000  (25 %)",
    "left             75,000",
  ]);
});

test("a warning comes each time that the conversation grows past 80 %, and never when quiet", async () => {
  const answers = [79_000, 80_000, 81_000].map((tokens) => counted(tokens, "ok"));
  const { app, notices } = await createTestApp([...answers, turn({ text: "notes" }), counted(84_000, "ok")]);
  for (const text of ["1", "2", "3"]) await app.prompt(text);
  expect(notices).toEqual([
    "The conversation fills 80 % of the context (80,010 of 100,000 tokens); it is compacted when it no longer fits",
  ]);
  await app.compact();
  await app.prompt("4");
  expect(notices).toHaveLength(2);
  const quiet = await createTestApp(answers, true);
  for (const text of ["1", "2"]) await quiet.app.prompt(text);
  expect(quiet.notices).toEqual([]);
});

test("what a summary cost is part of the total, not of the last answer", async () => {
  const { app } = await createTestApp([counted(1000, "one"), counted(2000, "two"), counted(500, "notes")]);
  await app.prompt("a");
  await app.prompt("b");
  const result = await app.compact("be short");
  expect(result).toMatchObject({ summary: "notes", tokensBefore: 2010, usage: { input: 500, output: 10 } });
  expect(app.usage()).toMatchObject({ last: { input: 2000 }, total: { input: 3500, output: 30 } });
  expect(app.messages().map(({ role }) => role)).toEqual(["system", "compactionSummary", "user", "assistant"]);
});

test("a compaction by hand is refused while something runs and when there is nothing to compact; an abort ends it", async () => {
  const reached = Promise.withResolvers<void>();
  const { app } = await createTestApp([turn({ text: "one" }), turn({ text: "two" }), hangAfter("", reached.resolve)]);
  await expect(app.compact()).rejects.toThrow("Nothing to compact (session too small)");
  await app.prompt("a");
  await app.prompt("b");
  const running = app.compact();
  await reached.promise;
  await expect(app.prompt("c")).rejects.toThrow("running already");
  app.abort();
  await expect(running).rejects.toMatchObject({ code: "aborted" });
  expect(app.messages()).toHaveLength(5);
});
