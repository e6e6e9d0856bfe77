import { expect, test } from "bun:test";
import { matchesAny, namePrefix, offeredNames } from "../../../src/tools/mcp/names.ts";

const names = (server: string, ...tools: string[]) => offeredNames(tools.map((name) => ({ server, name })));

test("a plain name stays as it is", () => {
  expect(names("docs", "search", "a_b", "a-b", "A1")).toEqual([
    "mcp__docs__search",
    "mcp__docs__a_b",
    "mcp__docs__a-b",
    "mcp__docs__A1",
  ]);
});

test("every other one gets a hash of its true name, and is not the same as a plain one", () => {
  const [dotted, plain, slashed] = names("s", "a.b", "a_b", "a/b");
  expect(plain).toBe("mcp__s__a_b");
  expect(dotted).toMatch(/^mcp__s__a_b_[0-9a-f]{8}$/);
  expect(slashed).toMatch(/^mcp__s__a_b_[0-9a-f]{8}$/);
  expect(dotted).not.toBe(slashed);
});

test("no name is longer than 64 characters, at the very limit too", () => {
  for (let length = 40; length < 80; length++) {
    const [one, other] = names("server", `${"x".repeat(length)}a`, `${"x".repeat(length)}b`);
    expect(one).toMatch(/^mcp__server__x+_?[0-9a-fab]*$/);
    expect([one, other].every((name) => name !== undefined && name.length <= 64)).toBe(true);
    expect(one).not.toBe(other);
  }
  const [long] = names("s".repeat(100), "tool");
  expect(long!.length).toBeLessThanOrEqual(64);
  expect(long).toContain("__tool");
});

test("a name depends neither on the tools beside it nor on their order", () => {
  const many = ["a.b", "größe", "x".repeat(70), " ", "日本"];
  const alone = many.map((name) => names("s", name)[0]);
  expect(names("s", ...many)).toEqual(alone);
  expect(names("s", ...many.toReversed())).toEqual(alone.toReversed());
});

test("of one true name only the first is offered", () => {
  expect(names("s", "a", "a", "b")).toEqual(["mcp__s__a", undefined, "mcp__s__b"]);
});

test("servers whose names look the same keep their tools apart", () => {
  const offered = offeredNames(["my server", "my.server", "my_server"].map((server) => ({ server, name: "x" })));
  expect(new Set(offered).size).toBe(3);
  expect(offered.every((name) => name?.startsWith(namePrefix("my server")))).toBe(true);
});

test("a pattern holds for true names, whatever they are made of", () => {
  const isOne = matchesAny(["read_*", "a.b", "*/x\ny"]);
  expect(["read_file", "a.b", "q/x\ny"].filter(isOne)).toHaveLength(3);
  expect(["unread_file", "a_b", "reads", "axb"].filter(isOne)).toEqual([]);
  expect(matchesAny([])("a")).toBe(false);
});
