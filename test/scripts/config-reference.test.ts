// The README's configuration reference is what the schema and the code say.
import { expect, test } from "bun:test";
import { configReference, readmePath, withReference } from "../../scripts/config-reference.ts";
import { rootArgs } from "../../src/cli/args.ts";
import { resolveConfig } from "../../src/config/config.ts";
import { mcpDefaults } from "../../src/config/mcp.ts";
import { settingsOf } from "../../src/config/origins.ts";
import {
  flagName,
  mcpReference,
  permissionsReference,
  providerReference,
  topLevelReference,
} from "../../src/config/reference.ts";
import { catalog, defaultProvider } from "../../src/providers/catalog.ts";
import { defaultQuirks, quirkKeys } from "../../src/providers/quirks.ts";

test("README.md is up to date (`bun scripts/config-reference.ts` writes it)", async () => {
  const readme = await Bun.file(readmePath).text();
  expect(withReference(readme)).toBe(readme);
});

test("a change of the schema or of its texts changes the README", () => {
  expect(() => withReference("# without a place for it")).toThrow("needs the lines");
  const reference = configReference();
  expect(reference).toContain('| `thinking` | `"off"`, `"minimal"`, `"low"`');
  expect(reference).toContain("| `temperature` | number from 0 to 2 |");
  expect(reference).toContain("| `timeout` | number or text |");
  expect(reference).toContain("| `id` | text | must be there |");
  expect(reference).toContain("| `startup_timeout` | number, 0 or more | `60` |");
});

test("the flags it names are those of the command line", () => {
  const references = [topLevelReference, permissionsReference, providerReference].flatMap((table) =>
    Object.values(table),
  );
  const flags = references.flatMap((reference) => flagName(reference)?.replace(/^--(no-)?/, "") ?? []);
  expect(flags.length).toBeGreaterThan(10);
  expect(flags.filter((flag) => !(flag in rootArgs))).toEqual([]);
});

test("the defaults it names are those in force", () => {
  const flags = {};
  const config = resolveConfig(flags, {}, [], catalog, defaultProvider);
  const settings = settingsOf({ flags, env: {}, files: [], catalog, defaultProvider, config });
  const told = (text: string | undefined) =>
    text && /^[\d"[]|^true$|^false$/.test(text) ? text.replace(/,.*$/, "") : undefined;
  const expected = Object.entries({ ...topLevelReference, ...providerReference }).flatMap(([key, entry]) => {
    const value = told(entry.default);
    const setting = settings.find((found) => found.key === key || found.key === `providers.anthropic.${key}`);
    return value === undefined || !setting ? [] : [[key, value, JSON.stringify(setting.value)]];
  });
  expect(expected.length).toBeGreaterThan(9);
  for (const [key, value, inForce] of expected) expect(`${key} = ${value}`).toBe(`${key} = ${inForce}`);
  for (const [key, quirk] of Object.entries(quirkKeys)) {
    expect(providerReference[key as keyof typeof quirkKeys].default).toBe(JSON.stringify(defaultQuirks[quirk]));
  }
  expect(mcpReference.startup_timeout.default).toBe(`${mcpDefaults.startupSeconds}`);
  expect(mcpReference.call_timeout.default).toBe(`${mcpDefaults.callSeconds}`);
});
