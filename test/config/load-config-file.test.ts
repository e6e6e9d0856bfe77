// Whether there is a config.toml: what only could not be looked at is not taken for missing.
import { expect, test } from "bun:test";
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { loadConfigFile } from "../../src/config/config.ts";
import { tmp } from "../helpers/tmp.ts";

test("without a file, a folder, or with a file in its place there are no settings", async () => {
  await using dir = tmp();
  writeFileSync(dir.file("file"), "");
  for (const home of [dir.path, dir.file("none"), dir.file("file")]) {
    expect(await loadConfigFile(home)).toEqual({ path: join(home, "config.toml"), content: {} });
  }
});

test("links that lead round in a circle are an error", async () => {
  await using dir = tmp();
  symlinkSync("config.toml", dir.file("config.toml"));
  const error = await loadConfigFile(dir.path).catch((thrown) => thrown);
  expect(error).toMatchObject({ code: "config", hint: expect.stringContaining("$PI_TS_HOME") });
  expect(error.message).toStartWith(`Cannot read ${dir.file("config.toml")}: `);
});

test.skipIf(process.getuid?.() === 0)("a folder that may not be looked into is an error", async () => {
  await using dir = tmp();
  mkdirSync(dir.file("home"));
  chmodSync(dir.file("home"), 0);
  const error = await loadConfigFile(dir.file("home")).catch((thrown) => thrown);
  chmodSync(dir.file("home"), 0o700);
  expect(error).toMatchObject({ code: "config", message: expect.stringContaining("Cannot read") });
});
