// A process that takes a session's lock in a folder without hard links, where another process takes it over before it has any content.
import { mock } from "bun:test";
import * as fs from "node:fs";

const [path = "", otherPid] = process.argv.slice(2);
const { openSync, unlinkSync, writeFileSync } = fs;
let isTaken = false;
mock.module("node:fs", () => ({
  ...fs,
  linkSync() {
    throw Object.assign(new Error("no links"), { code: "EPERM" });
  },
  openSync(name: string, flags: string, mode: number) {
    const fd = openSync(name, flags, mode);
    if (name === `${path}.lock` && flags === "wx" && !isTaken) {
      isTaken = true;
      unlinkSync(name);
      writeFileSync(name, JSON.stringify({ pid: Number(otherPid), started: "" }));
    }
    return fd;
  },
}));
const { takeLock } = await import("../../src/session/lock.ts");
try {
  takeLock(path);
  console.log("taken");
} catch (error) {
  console.log((error as Error).message);
}
