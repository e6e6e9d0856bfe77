// The log of a server: private, bounded, and with its end at hand.
import { expect, test } from "bun:test";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServerLog } from "../../../src/tools/mcp/server-log.ts";
import { tmp } from "../../helpers/tmp.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const megabyte = 1024 * 1024;

test("makes its file with the first thing to keep, for its owner alone", async () => {
  await using dir = tmp();
  const path = dir.file("logs/mcp-x.log");
  const log = createServerLog(path);
  expect(existsSync(path)).toBe(false);
  log.write(bytes("a line\n"));
  log.close();
  expect(readFileSync(path, "utf8")).toBe("a line\n");
  expect([statSync(path).mode & 0o777, statSync(dir.file("logs")).mode & 0o777]).toEqual([0o600, 0o700]);
});

test("keeps what another run wrote, until that is too much", async () => {
  await using dir = tmp();
  const path = dir.file("mcp-x.log");
  for (const [before, kept] of [
    ["old\n", "old\nnew\n"],
    ["x".repeat(megabyte + 1), "new\n"],
  ] as const) {
    writeFileSync(path, before);
    const log = createServerLog(path);
    log.write(bytes("new\n"));
    log.close();
    expect(readFileSync(path, "utf8")).toBe(kept);
  }
});

test("stops at a megabyte a run, and still knows the end", async () => {
  await using dir = tmp();
  const log = createServerLog(dir.file("mcp-x.log"));
  for (let i = 0; i < 30; i++) log.write(bytes("x".repeat(100_000)));
  log.write(bytes("\nthe reason\n"));
  expect(statSync(dir.file("mcp-x.log")).size).toBeLessThan(megabyte + 100);
  expect(log.tail()).toEndWith("the reason");
  log.close();
});

test("goes on with the next process of a run, however much the one before said, and forgets only its tail", async () => {
  await using dir = tmp();
  const path = dir.file("mcp-x.log");
  const log = createServerLog(path);
  log.begin(1);
  log.write(bytes(`the reason\n${"x".repeat(2 * megabyte)}`));
  log.close();
  log.begin(2);
  expect(log.tail()).toBe("");
  log.close();
  expect(readFileSync(path, "utf8")).toContain("the reason");
});

test("has a tail of a few lines that are safe to show", async () => {
  await using dir = tmp();
  const log = createServerLog(dir.file("mcp-x.log"));
  expect(log.tail()).toBe("");
  const lines = Array.from({ length: 20 }, (_, i) => `line ${i}`).join("\r\n");
  log.write(bytes(`${lines}\n\n\u001b[31mred`));
  log.write(new Uint8Array([0xc3]));
  log.write(new Uint8Array([0xa4]));
  expect(log.tail().split("\n")).toEqual([...[13, 14, 15, 16, 17, 18, 19].map((i) => `line ${i}`), "␛[31mredä"]);
  log.close();
});

test("that cannot be written keeps the tail", async () => {
  await using dir = tmp();
  writeFileSync(dir.file("file"), "");
  const log = createServerLog(dir.file("file/mcp-x.log"));
  log.write(bytes("still here"));
  expect(log.tail()).toBe("still here");
  log.close();
});
