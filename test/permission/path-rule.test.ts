// Patterns for files where names in any case, and accents written in either way, are the same file, and at the root of the file system.
import { expect, test } from "bun:test";
import { matchesPath, parsePathPattern } from "../../src/permission/path-rule.ts";

const matches = (rule: string, path: string, wholeFolders: boolean, anyCase: boolean) =>
  matchesPath(parsePathPattern(rule, "/work/Project", wholeFolders, anyCase)!, path);

test.each([
  [".env", "/work/Project/.ENV"],
  ["Secrets", "/work/project/secrets/key.pem"],
  ["**/*.PEM", "/work/Project/a/b.pem"],
  ["/etc/Hosts", "/ETC/hosts"],
  ["caf\u00e9/*", "/work/Project/cafe\u0301/menu"],
  ["Cafe\u0301", "/work/Project/CAF\u00c9/menu"],
])("a deny rule %s holds for %s where names are found in any case, and only there", (rule, path) => {
  expect(matches(rule, path, true, true)).toBe(true);
  expect(matches(rule, path, true, false)).toBe(false);
});

test("an allow rule means its own spelling alone", () => {
  const pattern = parsePathPattern("src/**", "/work/Project");
  expect(pattern?.anyCase).toBe(false);
  expect(matchesPath(pattern!, "/work/Project/SRC/a.ts")).toBe(false);
});

test.each([
  ["/", "/", true],
  ["/", "/etc/hosts", true],
  ["/**", "/etc/hosts", true],
  ["/*", "/etc", true],
  ["/*", "/etc/hosts", false],
])("%s and %s: %p", (rule, path, expected) => {
  expect(matches(rule, path, false, false)).toBe(expected);
});
