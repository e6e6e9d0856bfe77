// A yes for the session, and what becomes of it when another session begins.
import { expect, test } from "bun:test";
import { createApp } from "../../src/app/create-app.ts";
import { loadPermissions } from "../../src/app/permissions.ts";
import { resolveConfig } from "../../src/config/config.ts";
import { createScriptedProvider, testModel, turn } from "../helpers/scripted-provider.ts";
import { tmp } from "../helpers/tmp.ts";

const known = { ...testModel, name: "scripted", keyEnv: "", defaultModel: testModel.id, models: [testModel] };

test("holds until the session ends, and not in the next one", async () => {
  await using dir = tmp();
  const config = resolveConfig({ contextFiles: false }, { PI_TS_HOME: dir.file("home") }, [], [known], "scripted");
  const call = { id: "a", name: "bash", args: { command: "true" } };
  const answers = [1, 2, 3].flatMap(() => [turn({ calls: [call] }), turn({ text: "done" })]);
  let questions = 0;
  const app = createApp({
    config,
    permissions: await loadPermissions(config, dir.path, {}),
    provider: createScriptedProvider(answers),
    cwd: dir.path,
    env: { PATH: process.env.PATH },
    ask: async () => {
      questions++;
      return { choice: "session" };
    },
    onBug: (error) => {
      throw error;
    },
    notify: () => {},
  });
  await app.prompt("go");
  await app.prompt("again");
  expect(questions).toBe(1);
  app.clear();
  await app.prompt("go");
  expect(questions).toBe(2);
});
