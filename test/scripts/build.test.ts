// The build where it fails, or is somewhere unusual; that it works is what every test of the program shows.
import { expect, test } from "bun:test";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { recordOrder } from "../../scripts/build/order.ts";
import { compile } from "../../scripts/build.ts";
import { binaryPath } from "../helpers/run-cli.ts";
import { tmp } from "../helpers/tmp.ts";

test("a program that cannot be compiled leaves the one that is there, and nothing else", async () => {
  await using dir = tmp();
  writeFileSync(dir.file("broken.ts"), "const const");
  writeFileSync(dir.file("program"), "the one before");
  await expect(compile(dir.file("broken.ts"), dir.file("program"))).rejects.toThrow("ended with 1");
  expect(readFileSync(dir.file("program"), "utf8")).toBe("the one before");
  expect(readdirSync(dir.path).sort()).toEqual(["broken.ts", "program"]);
});

test("a build that is ended leaves nothing, neither there nor where it was started", async () => {
  await using dir = tmp();
  writeFileSync(dir.file("fine.ts"), "console.log(1)");
  const around = () => readdirSync(join(import.meta.dir, "../..")).sort();
  const before = around();
  const ending = new AbortController();
  const build = compile(dir.file("fine.ts"), dir.file("program"), { signal: ending.signal });
  ending.abort();
  await expect(build).rejects.toThrow("ended with 137");
  expect(readdirSync(dir.path)).toEqual(["fine.ts"]);
  expect(around()).toEqual(before);
});

test.each([
  ["fails", "echo boo >&2; exit 3", 60_000, "the program just built ended with 3\nboo"],
  ["says something else", "echo boo", 60_000, "the program just built ended with 0\nboo"],
  ["never ends", "echo boo; exec sleep 1000", 200, "the program just built did not end within 0.2 s\nboo"],
])("a program that %s ends the build", async (_name, script, limitMs, message) => {
  await using dir = tmp();
  const program = dir.file("program");
  writeFileSync(program, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  await expect(recordOrder(program, dir.file("order"), dir.path, { limitMs })).rejects.toThrow(message);
});

test("what lies around the folder that a program is built in changes nothing of it", async () => {
  await using dir = tmp();
  async function orderIn(folder: string): Promise<string> {
    await recordOrder(binaryPath(), dir.file("order"), dir.file(folder));
    return readFileSync(dir.file("order"), "utf8");
  }
  const usual = await orderIn("usual");
  writeFileSync(dir.file("AGENTS.md"), "Speak French.");
  writeFileSync(dir.file(".git"), "gitdir: elsewhere");
  expect(await orderIn("around")).toBe(usual);
});
