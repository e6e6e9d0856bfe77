import { expect, test } from "bun:test";
import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { loadHistory } from "../../src/modes/repl/history.ts";
import { createRecall } from "../../src/modes/repl/recall.ts";
import { tmp } from "../helpers/tmp.ts";

test("inputs come back, without blanks and repeats", async () => {
  await using dir = tmp();
  const home = dir.file("home");
  const history = loadHistory(home);
  for (const text of ["one", "", "  ", "one", "two\nlines \u2028 漢字", "one"]) history.add(text);
  const expected = ["one", "two\nlines \u2028 漢字", "one"];
  expect(history.entries).toEqual(expected);
  expect(loadHistory(home).entries).toEqual(expected);
});

test("two at once keep each other's inputs", async () => {
  await using dir = tmp();
  const [a, b] = [loadHistory(dir.path), loadHistory(dir.path)];
  a.add("from a");
  b.add("from b");
  a.add("from a again");
  expect(loadHistory(dir.path).entries).toEqual(["from a", "from b", "from a again"]);
});

test("a damaged line is left out, loose permissions are mended", async () => {
  await using dir = tmp();
  const path = dir.file("history");
  writeFileSync(path, '"good"\n"cut sho\n42\n\n"also good"\n');
  chmodSync(path, 0o644);
  const history = loadHistory(dir.path);
  expect(history.entries).toEqual(["good", "also good"]);
  history.add("new");
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test("no more than the newest thousand are kept, in memory and in time on disk", async () => {
  await using dir = tmp();
  const lines = Array.from({ length: 2100 }, (_, i) => `"${i}"\n`);
  writeFileSync(dir.file("history"), lines.join(""));
  const { entries } = loadHistory(dir.path);
  expect([entries.length, entries[0], entries.at(-1)]).toEqual([1000, "1100", "2099"]);
  expect(readFileSync(dir.file("history"), "utf8")).toBe(lines.slice(1100).join(""));
});

test("a file that cannot be written says so and loses nothing in memory", async () => {
  await using dir = tmp();
  mkdirSync(dir.file("history"));
  const history = loadHistory(dir.path);
  expect(() => history.add("one")).toThrow();
  expect(history.entries).toEqual(["one"]);
});

test("the arrow keys walk through inputs and keep what was changed on the way", () => {
  const recall = createRecall(["one", "two"]);
  expect(recall.newer("draft")).toBeUndefined();
  expect(recall.older("draft")).toBe("two");
  expect(recall.older("two changed")).toBe("one");
  expect(recall.older("one")).toBeUndefined();
  expect(recall.newer("one")).toBe("two changed");
  expect(recall.newer("two changed")).toBe("draft");
  expect(recall.newer("draft")).toBeUndefined();
});
