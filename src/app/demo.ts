// The demo's parts: a small project with a failing test, and an app whose model is a recording of someone mending it.
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { resolveConfig } from "../config/config.ts";
import recording from "../providers/replay/demo.jsonl" with { type: "text" };
import { createReplayProvider } from "../providers/replay/index.ts";
import type { Environment } from "../util/environment.ts";
import { AppError } from "../util/error.ts";
import type { App } from "./app.ts";
import { createApp } from "./create-app.ts";
import { loadPermissions } from "./permissions.ts";

export const task = "test.sh fails. Find out why, mend it, and show that it passes.";

const project = {
  "slug.sh": `#!/usr/bin/env bash
# Prints a title as a slug: lower case, hyphens for spaces.
title="$1"
slug="\${title/ /-}"
echo "\${slug,,}"
`,
  "test.sh": `#!/usr/bin/env bash
# Checks slug.sh; needs nothing but bash.
got="$(bash slug.sh "A Title Of Words")"
want="a-title-of-words"
if [ "$got" = "$want" ]; then echo "ok"; else echo "FAIL: got '$got', want '$want'"; exit 1; fi
`,
};

const provider = {
  name: "replay",
  baseUrl: "http://replay.invalid",
  keyEnv: "",
  api: "openai-completions",
  defaultModel: "recording",
  models: [],
};

/** Writes the project into a new temporary folder and gives its real path. Throws `AppError` `usage` where there is no place for one. */
export function createDemoProject(): string {
  const parent = tmpdir();
  let folder: string | undefined;
  try {
    folder = realpathSync(mkdtempSync(join(parent, "pi-ts-demo-")));
    for (const [name, text] of Object.entries(project)) writeFileSync(join(folder, name), text);
    return folder;
  } catch (error) {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
    throw new AppError("usage", `The demo's project cannot be made in ${parent}: ${(error as Error).message}`, {
      hint: "$TMPDIR names another folder.",
      cause: error,
    });
  }
}

/** The demo's app; with `paced` the recorded answer comes at the speed it was recorded. */
export async function createDemoApp(
  cwd: string,
  env: Environment,
  options: { quiet: boolean; paced: boolean },
  onBug: (error: unknown) => void,
): Promise<App> {
  // The recorded commands are known and the folder is the demo's own, so nobody needs to be asked.
  const flags = { contextFiles: false, yolo: true, quiet: options.quiet };
  const config = resolveConfig(flags, { PI_TS_HOME: env.PI_TS_HOME }, [], [provider], provider.name);
  return createApp({
    config,
    permissions: await loadPermissions(config, cwd, env),
    provider: createReplayProvider(recording, "the demo's recording", options.paced),
    cwd,
    env,
    ask: async () => ({ choice: "once" }),
    onBug,
    notify: () => {},
  });
}

/** Runs the project's test, since the recorded answer only claims that it passes. */
export function runDemoTest(cwd: string): { readonly passed: boolean; readonly output: string } {
  const { exitCode, stdout } = Bun.spawnSync(["bash", "test.sh"], { cwd, stdin: "ignore", stderr: "ignore" });
  return { passed: exitCode === 0, output: stdout.toString().trim() };
}
