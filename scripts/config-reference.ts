// Writes the README's configuration reference from the schema of config.toml and the texts beside it. `--check` writes nothing and fails
// where the README is out of date.
import { join } from "node:path";
import * as z from "zod/mini";
import { ConfigFile } from "../src/config/file.ts";
import {
  costReference,
  flagName,
  type KeyReference,
  mcpReference,
  modelReference,
  permissionsReference,
  providerReference,
  topLevelReference,
} from "../src/config/reference.ts";

export const readmePath = join(import.meta.dir, "../README.md");
const begin = "<!-- configuration reference: written by scripts/config-reference.ts -->";
const end = "<!-- end of the configuration reference -->";

/** As much of JSON Schema as the schema of config.toml comes to. */
interface Schema {
  /** Several, where nothing more is said of any. */
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | boolean;
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
}

/** The reference as Markdown. */
export function configReference(): string {
  const root = z.toJSONSchema(ConfigFile, { io: "input" }) as Schema;
  const { permissions, providers, mcp, ...topLevel } = root.properties ?? {};
  const provider = valuesOf(providers);
  const model = provider.properties?.models?.items?.anyOf?.find(({ type }) => type === "object") ?? {};
  return [
    table({ properties: topLevel }, topLevelReference),
    section("[permissions]", permissions, permissionsReference),
    section("[providers.NAME]", provider, providerReference),
    section("[[providers.NAME.models]]", model, modelReference),
    section("cost = { … }` of a model", model.properties?.cost, costReference),
    section("[mcp.NAME]", valuesOf(mcp), mcpReference),
  ].join("\n");
}

/** The README with the reference between its markers. Throws when they are not there. */
export function withReference(readme: string): string {
  const [from, to] = [readme.indexOf(begin), readme.indexOf(end)];
  if (from === -1 || to < from) throw new Error(`README.md needs the lines\n${begin}\n${end}`);
  return `${readme.slice(0, from + begin.length)}\n\n${configReference()}\n${readme.slice(to)}`;
}

function valuesOf(schema: Schema | undefined): Schema {
  return typeof schema?.additionalProperties === "object" ? schema.additionalProperties : {};
}

function section(title: string, schema: Schema | undefined, reference: Readonly<Record<string, KeyReference>>): string {
  const heading = title.includes("`") ? `\`${title}` : `\`${title}\``;
  return `${heading}:\n\n${table(schema, reference)}`;
}

function table({ properties = {}, required }: Schema = {}, reference: Readonly<Record<string, KeyReference>>): string {
  const rows = Object.entries(reference).map(([key, entry]) => {
    const schema = properties[key];
    if (!schema) throw new Error(`the schema has no key ${key}`);
    const instead = [flagName(entry), entry.variable === undefined ? undefined : `$${entry.variable}`];
    const preset = required?.includes(key) ? "must be there" : code(entry.default ?? "");
    const over = instead.flatMap((name) => (name === undefined ? [] : [`\`${name}\``])).join(", ");
    return row(`\`${key}\``, typeOf(schema), preset, entry.meaning, over);
  });
  return `${row("key", "type", "default", "meaning", "flag, variable")}\n|---|---|---|---|---|\n${rows.join("\n")}\n`;
}

function row(...cells: readonly string[]): string {
  return `|${cells.map((cell) => ` ${cell.replaceAll("|", "\\|")} `).join("|")}|`.replace(/ {2}(?=\|)/g, " ");
}

/** What could stand in the file is code; words are words. */
function code(text: string): string {
  return /^(?:"[^"]*"|\[\]|\d+|true|false)$/.test(text) ? `\`${text}\`` : text;
}

function typeOf(schema: Schema): string {
  if (schema.enum) return schema.enum.map((value) => `\`${JSON.stringify(value)}\``).join(", ");
  const forms = typeof schema.type === "object" ? schema.type.map((type) => ({ type })) : schema.anyOf;
  if (forms) return forms.map(typeOf).join(" or ");
  switch (schema.type) {
    case "array":
      return schema.items?.enum ? `list of ${typeOf(schema.items)}` : `list of ${plural(typeOf(schema.items ?? {}))}`;
    case "object":
      return schema.properties ? "table" : `table of ${plural(typeOf(valuesOf(schema)))}`;
    case "string":
      return "text";
    case "boolean":
      return "`true`, `false`";
    case "integer":
      return `whole number${range(schema)}`;
    case "number":
      return `number${range(schema)}`;
    default:
      throw new Error(`no words for the type ${JSON.stringify(schema)}`);
  }
}

function plural(types: string): string {
  return types
    .split(" or ")
    .map((type) => `${type}s`)
    .join(" or ");
}

function range({ minimum, exclusiveMinimum, maximum }: Schema): string {
  const upper = maximum === undefined || maximum >= Number.MAX_SAFE_INTEGER ? undefined : maximum;
  if (exclusiveMinimum !== undefined) return ` above ${exclusiveMinimum}`;
  if (minimum === undefined || minimum <= Number.MIN_SAFE_INTEGER) return "";
  return upper === undefined ? `, ${minimum} or more` : ` from ${minimum} to ${upper}`;
}

if (import.meta.main) {
  const readme = await Bun.file(readmePath).text();
  const current = withReference(readme);
  if (current === readme) process.exit(0);
  if (process.argv.includes("--check")) {
    console.error(
      "The configuration reference in README.md is out of date: bun scripts/config-reference.ts writes it.",
    );
    process.exit(1);
  }
  await Bun.write(readmePath, current);
}
