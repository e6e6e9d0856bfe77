import { expect, test } from "bun:test";
import { matchesAny, namePrefixes, offeredNames } from "../../../src/tools/mcp/names.ts";

const names = (server: string, ...tools: string[]) =>
  offeredNames(
    tools.map((name) => ({ server, name })),
    [server],
  );

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

test("servers whose names look the same keep their tools apart, and the one that is written so has the plain name", () => {
  const servers = ["my server", "my.server", "my_server", "my__server", "my_server_"];
  const offered = offeredNames(
    servers.map((server) => ({ server, name: "x" })),
    servers,
  );
  expect(new Set(offered).size).toBe(5);
  expect(offered[2]).toBe("mcp__my_server__x");
  // Who has tools at the moment makes no difference.
  const alone = servers.flatMap((server) => offeredNames([{ server, name: "x" }], servers));
  expect(alone).toEqual(offered);
});

test("no server's names begin as another's do, so that a rule for one holds for no other", () => {
  const servers = ["a", "a__b", "a_", "a.", "_a", "a__", `${"a".repeat(40)}x`, `${"a".repeat(40)}y`];
  const prefixes = [...namePrefixes(servers).values()];
  for (const one of prefixes) expect(prefixes.filter((other) => other.startsWith(one))).toEqual([one]);
  expect(prefixes.every((prefix) => /^mcp__[\w-]{1,32}__$/.test(prefix))).toBe(true);
});

test("a pattern holds for true names, whatever they are made of", () => {
  const isOne = matchesAny(["read_*", "a.b", "*/x\ny"]);
  expect(["read_file", "a.b", "q/x\ny"].filter(isOne)).toHaveLength(3);
  expect(["unread_file", "a_b", "reads", "axb"].filter(isOne)).toEqual([]);
  expect(matchesAny([])("a")).toBe(false);
});
