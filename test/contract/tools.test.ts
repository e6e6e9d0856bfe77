// One suite over every built-in tool: what models, the gate and people can rely on, whatever the tool does.
import { describe, expect, test } from "bun:test";
import { mkdirSync, symlinkSync } from "node:fs";
import { builtinTools } from "../../src/tools/index.ts";
import type { Tool } from "../../src/tools/tool.ts";
import { ToolError } from "../../src/tools/tool.ts";
import { callTool, previewText } from "../helpers/call-tool.ts";
import { tmp } from "../helpers/tmp.ts";

interface Schema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema & { readonly description?: string }>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: unknown;
  readonly items?: Schema;
}

const { specs, load } = builtinTools();
const tools = await Promise.all(
  specs.map(async (spec) => ({ ...spec, schema: spec.parameters as Schema, tool: (await load(spec.name)) as Tool })),
);

/** Arguments of the right types: what is required and every text, with `path` where the tool has one. */
function argumentsFor({ properties = {}, required = [] }: Schema, path: string): Record<string, unknown> {
  const values: Record<string, unknown> = { string: "x", boolean: true, integer: 1, number: 1, array: [], object: {} };
  const names = Object.keys(properties).filter(
    (name) => required.includes(name) || properties[name]?.type === "string",
  );
  const given = Object.fromEntries(names.map((name) => [name, values[properties[name]?.type ?? "string"]]));
  return "path" in properties ? { ...given, path } : given;
}

describe.each(tools)("$name", ({ name, description, schema, tool }) => {
  test("has a schema that every provider takes: one object, no alternatives at its top, nothing beyond its fields", () => {
    expect(schema.type).toBe("object");
    expect(schema.additionalProperties).toBe(false);
    for (const word of ["oneOf", "anyOf", "allOf", "not", "$ref", "$schema", "if"])
      expect(schema).not.toHaveProperty(word);
    expect(Object.keys(schema.properties ?? {})).toEqual(expect.arrayContaining([...(schema.required ?? [])]));
  });

  test("describes itself and each field in words of its own, in few of them", () => {
    expect(description.length).toBeGreaterThan(50);
    expect(description.length).toBeLessThan(2500);
    for (const field of Object.values(schema.properties ?? {})) expect(field.description).toBeString();
  });

  test("goes by the name it is asked for, and says what it does to the world", () => {
    expect(tool.name).toBe(name);
    expect(["read", "write", "execute"]).toContain(tool.access);
  });

  test("refuses arguments that do not fit, naming the field", () => {
    const good = argumentsFor(schema, "f");
    const refusal = (args: unknown) => {
      try {
        tool.prepare(args);
      } catch (error) {
        return error instanceof ToolError ? error.message : error;
      }
      return "no refusal";
    };
    expect(refusal({ ...good, colour: "red" })).toBe(`invalid arguments for ${name}: unknown field 'colour'`);
    expect(refusal([])).toStartWith(`invalid arguments for ${name}:`);
    for (const field of schema.required ?? []) {
      const { [field]: _, ...without } = good;
      expect(refusal(without)).toContain(`'${field}' must be`);
      expect(refusal({ ...good, [field]: { not: "this" } })).toContain(`'${field}' must be`);
    }
  });

  test("names the paths it touches, so that the gate can judge them", () => {
    if (!("path" in (schema.properties ?? {}))) return;
    expect(tool.prepare(argumentsFor(schema, "some/path")).paths).toEqual(["some/path"]);
  });

  test("never waits for a FIFO, a link to one or a device: one clear line", async () => {
    if (!("path" in (schema.properties ?? {}))) return;
    await using dir = tmp();
    mkdirSync(dir.file("d"));
    Bun.spawnSync(["mkfifo", dir.file("pipe")]);
    symlinkSync("pipe", dir.file("link"));
    for (const path of ["pipe", "link", "/dev/zero", "/dev/tty", "missing/x\0y"]) {
      const args = argumentsFor(schema, path);
      const { text, isError } = await callTool(tool, dir.path, args);
      expect({ path, isError: isError ?? false, text }).toMatchObject({ path, isError: true });
      expect(text.split("\n")).toHaveLength(1);
      expect(await previewText(tool, dir.path, args)).toBeString();
    }
  });

  test("stays within the room that a result has", async () => {
    if (!("path" in (schema.properties ?? {})) || tool.access !== "read") return;
    await using dir = tmp();
    for (let i = 0; i < 300; i++) await Bun.write(dir.file(`d/${"x".repeat(100)}${i}`), "x".repeat(50_000));
    for (const path of ["d", `d/${"x".repeat(100)}7`]) {
      const { text } = await callTool(tool, dir.path, argumentsFor(schema, path), { maxOutput: 2000 });
      expect(text.length).toBeLessThanOrEqual(2000);
    }
  });
});
