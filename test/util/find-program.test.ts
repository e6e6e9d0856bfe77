// A program that is run although nobody was asked: which one on the PATH it is.
import { expect, test } from "bun:test";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter } from "node:path";
import { findProgram } from "../../src/util/find-program.ts";
import { tmp } from "../helpers/tmp.ts";

test("it is the first that does not come from the working directory", async () => {
  await using dir = tmp();
  for (const folder of ["work", "outside", "links"]) mkdirSync(dir.file(folder));
  for (const folder of ["work", "outside"]) writeFileSync(dir.file(`${folder}/tool`), "#!/bin/sh\n", { mode: 0o755 });
  symlinkSync(dir.file("work/tool"), dir.file("links/tool"));
  symlinkSync(dir.file("outside"), dir.file("work/bin"));
  const find = (...folders: string[]) => findProgram("tool", folders.join(delimiter), dir.file("work"));
  const passedOver = [dir.file("work"), dir.file("links"), dir.file("none"), "../outside", ""];
  expect(find(...passedOver)).toBeUndefined();
  expect(find(...passedOver, dir.file("outside"))).toBe(dir.file("outside/tool"));
  // A command could make the link lead elsewhere.
  expect(find(dir.file("work/bin"))).toBe(dir.file("outside/tool"));
  expect(findProgram("tool", undefined, dir.file("work"))).toBeUndefined();
});
