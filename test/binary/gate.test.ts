// The gate of the compiled binary where nobody can be asked.
import { expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { startReplayServer } from "../helpers/replay-server.ts";
import { runCli } from "../helpers/run-cli.ts";
import { tmp } from "../helpers/tmp.ts";

type Call = { name: string; arguments: Record<string, unknown> };

/** Lets the model make one call and answer; gives the run's result and what the model was told. */
async function runCall(call: Call, cwd: string, flags: string[] = []) {
  await using server = await startReplayServer([{ turn: { calls: [{ id: "c", ...call }] } }, { turn: { text: "ok" } }]);
  const env = { PI_PROVIDER: "openai", OPENAI_API_KEY: "sk-0123456789abcdef", PI_BASE_URL: server.url };
  const result = await runCli(["-p", ...flags, "go"], { env, cwd });
  return { ...result, told: server.requests[1]?.body.messages.at(-1).content as string };
}

test("a command is denied at once, said to the model and on stderr with the flag that allows it", async () => {
  await using dir = tmp();
  const result = await runCall({ name: "bash", arguments: { command: "touch made\u001b[2K" } }, dir.path);
  expect(existsSync(dir.file("made\u001b[2K"))).toBe(false);
  expect(result.told).toStartWith("Error: denied: bash was not approved");
  expect(result.stderr).toContain("touch made␛[2K");
  expect(result.stderr).toContain("--yolo");
});

test("--yolo runs it", async () => {
  await using dir = tmp();
  const result = await runCall({ name: "bash", arguments: { command: "touch made" } }, dir.path, ["--yolo"]);
  expect(existsSync(dir.file("made"))).toBe(true);
  expect(result.code).toBe(0);
});

test("files inside the working directory need no approval", async () => {
  await using dir = tmp();
  await runCall({ name: "write", arguments: { path: "in/side.txt", content: "x" } }, dir.path);
  expect(readFileSync(dir.file("in/side.txt"), "utf8")).toBe("x");
});

test.each([
  ["a way up", "../outside.txt"],
  ["a folder that begins with the same name", "../work-evil/x.txt"],
  ["a link to a folder", "out/new.txt"],
  ["a link to a file", "victim"],
  ["a dangling link", "dangling"],
  ["the home directory", "~/x.txt"],
])("%s leads outside and is denied, with the real path shown", async (_name, path) => {
  await using dir = tmp();
  for (const folder of ["work", "outside", "work-evil"]) mkdirSync(dir.file(folder));
  writeFileSync(dir.file("outside/victim.txt"), "precious");
  symlinkSync(dir.file("outside"), dir.file("work/out"));
  symlinkSync(dir.file("outside/victim.txt"), dir.file("work/victim"));
  symlinkSync(dir.file("outside/new-file.txt"), dir.file("work/dangling"));
  const result = await runCall({ name: "write", arguments: { path, content: "pwned" } }, dir.file("work"));
  expect(result.told).toContain("outside the working directory");
  expect(result.stderr).toContain("denied: write");
  expect(readFileSync(dir.file("outside/victim.txt"), "utf8")).toBe("precious");
  expect(existsSync(dir.file("outside/new-file.txt"))).toBe(false);
  expect(existsSync(dir.file("outside/new.txt"))).toBe(false);
});

test("commands do not see provider keys", async () => {
  await using dir = tmp();
  const result = await runCall({ name: "bash", arguments: { command: "env" } }, dir.path, ["--yolo"]);
  expect(result.told).toContain("PI_TS=1");
  expect(result.told).not.toContain("OPENAI_API_KEY");
});
