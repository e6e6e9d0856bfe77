// The folder for long outputs goes with the program, and those of programs that were killed go with the next one.
import { expect, test } from "bun:test";
import { mkdirSync, readdirSync, utimesSync, writeFileSync } from "node:fs";
import { tmp } from "../helpers/tmp.ts";

test("what a process left that was killed goes, and nothing else", async () => {
  await using dir = tmp();
  const long = 1_700_000_000;
  const dead = Bun.spawnSync(["true"]).pid;
  const make = (name: string, mark: string | undefined, writtenAt?: number) => {
    const folder = dir.file(`pi-ts-output-${name}`);
    mkdirSync(folder);
    for (const file of ["1.txt", ...(mark === undefined ? [] : [mark])]) writeFileSync(`${folder}/${file}`, "x");
    if (writtenAt !== undefined) utimesSync(folder, writtenAt, writtenAt);
  };
  make("killed", `.owner-${dead}`, long);
  make("justnow", `.owner-${dead}`);
  make("running", `.owner-${process.pid}`, long);
  make("unowned", undefined, long);
  const module = `${import.meta.dir}/../../src/util/output-folder.ts`;
  const script = `import { outputFolder } from "${module}"; outputFolder(); process.exit(0);`;
  const { success } = Bun.spawnSync([process.execPath, "-e", script], { env: { ...process.env, TMPDIR: dir.path } });
  expect(success).toBe(true);
  expect(readdirSync(dir.path).sort()).toEqual([
    "pi-ts-output-justnow",
    "pi-ts-output-running",
    "pi-ts-output-unowned",
  ]);
});
