import { describe, expect, test } from "bun:test";
import { toParameters } from "../../../src/tools/mcp/parameters.ts";

interface Schema extends Record<string, unknown> {
  readonly properties: Readonly<Record<string, unknown>>;
  readonly required?: readonly string[];
}

function parametersOf(inputSchema: unknown) {
  const parameters = toParameters(inputSchema);
  if (!parameters) throw new Error("no parameters");
  return { ...parameters, schema: parameters.schema as Schema };
}

const schemaOf = (inputSchema: unknown) => parametersOf(inputSchema).schema;

test("a plain schema stays as it is, in its order", () => {
  const schema = {
    type: "object",
    description: "what it takes",
    properties: { b: { type: "string", description: "x", enum: ["a"] }, a: { type: ["integer", "null"], minimum: 1 } },
    required: ["b"],
    additionalProperties: false,
  };
  expect(JSON.stringify(schemaOf(schema))).toBe(JSON.stringify(schema));
});

test.each([
  ["nothing", undefined],
  ["an empty object", {}],
  ["an object without a word on its properties", { type: "object" }],
])("%s is a tool without arguments", (_, given) => {
  expect(schemaOf(given)).toEqual({ type: "object", properties: {} });
});

test.each([[null], ["object"], [[]], [{ type: "array" }], [7]])("%j is no schema of a tool", (given) => {
  expect(toParameters(given)).toBeUndefined();
});

describe("what no provider takes at the top becomes properties", () => {
  test("anyOf and oneOf: all of them, required is what each requires", () => {
    const branch = (name: string) => ({
      type: "object",
      properties: { kind: {}, [name]: { type: "string" } },
      required: ["kind", name],
    });
    expect(schemaOf({ type: "object", oneOf: [branch("a"), branch("b")] })).toEqual({
      type: "object",
      properties: { kind: {}, a: { type: "string" }, b: { type: "string" } },
      required: ["kind"],
    });
  });

  test("allOf and a reference: all of them, and all that they require", () => {
    const root = {
      type: "object",
      $ref: "#/$defs/base",
      allOf: [{ properties: { a: { type: "number" } }, required: ["a"] }],
      $defs: { base: { type: "object", properties: { id: { type: "string" } }, required: ["id"] } },
    };
    const schema = schemaOf(root);
    expect(Object.keys(schema.properties).sort()).toEqual(["a", "id"]);
    expect(schema.required?.toSorted()).toEqual(["a", "id"]);
    for (const key of ["allOf", "oneOf", "anyOf", "$ref"]) expect(schema).not.toHaveProperty(key);
  });

  test("a reference to itself comes to an end", () => {
    const root = { type: "object", $ref: "#/$defs/a", $defs: { a: { $ref: "#/$defs/a", properties: { x: {} } } } };
    expect(schemaOf(root)).toMatchObject({ properties: { x: {} } });
  });
});

test("names of properties that a provider refuses are changed on the way out and back on the way in", () => {
  const parameters = parametersOf({
    type: "object",
    properties: { "größe in cm": { type: "number" }, gr__e_in_cm: {} },
    required: ["größe in cm"],
  });
  const names = Object.keys(parameters.schema.properties);
  expect(names).toHaveLength(2);
  for (const name of names) expect(name).toMatch(/^[a-zA-Z0-9_.-]{1,64}$/);
  const [sent] = parameters.schema.required ?? [];
  expect(parameters.toArguments({ [sent!]: 180, other: 1 })).toEqual({ "größe in cm": 180, other: 1 });
});

test("a schema nested without end is cut", () => {
  let schema: Record<string, unknown> = { type: "string" };
  for (let i = 0; i < 1000; i++) schema = { type: "object", properties: { x: schema } };
  expect(JSON.stringify(schemaOf(schema)).length).toBeLessThan(10_000);
});

test.each([
  ["keywords of a draft", { $schema: "x", $id: "y", $comment: "z", type: "string" }, { type: "string" }],
  [
    "an exclusive limit of draft 4",
    { type: "number", minimum: 1, exclusiveMinimum: true },
    { type: "number", minimum: 1, exclusiveMinimum: 1 },
  ],
  [
    "a tuple of an old draft",
    { type: "array", items: [{ type: "string" }, { type: "number" }] },
    { type: "array", items: { anyOf: [{ type: "string" }, { type: "number" }] } },
  ],
  ["a list of nothing in particular", { type: "array" }, { type: "array", items: {} }],
  ["a type that there is not", { type: "any" }, {}],
  ["an empty enum", { type: "string", enum: [] }, { type: "string" }],
  ["required as in draft 3", { type: "string", required: true }, { type: "string" }],
  ["a reference to elsewhere", { $ref: "https://example.com/x" }, {}],
])("a property with %s is said in today's words", (_, given, expected) => {
  expect(schemaOf({ type: "object", properties: { p: given } }).properties).toEqual({ p: expected });
});

test("a property named as one of Object's own is a property like any other", () => {
  const properties = JSON.parse('{"constructor":{"type":"string"},"toString":{"type":"string"}}');
  expect(schemaOf({ type: "object", properties }).properties).toEqual(properties);
});

describe("references", () => {
  test("to a property go by the name that it has now", () => {
    const { properties } = schemaOf({
      type: "object",
      properties: { "the name": { type: "string" }, other: { $ref: "#/properties/the name" } },
    });
    expect(properties).toEqual({ the_name: { type: "string" }, other: { $ref: "#/properties/the_name" } });
  });

  test("to a part that is not sent are left out", () => {
    const part = { properties: { a: { type: "string" } } };
    const schema = {
      type: "object",
      properties: { b: { $ref: "#/dependencies/x/properties/a" } },
      dependencies: { x: part },
    };
    expect(schemaOf(schema).properties).toEqual({ b: {} });
  });

  test("that branch again and again, or lead back, cost no time", () => {
    const steps = Array.from({ length: 60 }, (_, i) => {
      const next = { $ref: `#/$defs/s${(i + 1) % 60}` };
      return [`s${i}`, { anyOf: [next, next], properties: { [`p${i}`]: {} } }];
    });
    const schema = { type: "object", $ref: "#/$defs/s0", $defs: Object.fromEntries(steps) };
    expect(Object.keys(schemaOf(schema).properties)).toHaveLength(60);
  });
});

test("keywords whose values are of the wrong kind are left out", () => {
  const { properties } = schemaOf({
    type: "object",
    properties: {
      a: { type: "string", minLength: "3", format: 7, description: ["x"], uniqueItems: "no", maxLength: 5 },
    },
  });
  expect(properties).toEqual({ a: { type: "string", maxLength: 5 } });
});

test("texts are Unicode, and without NUL, at every depth", () => {
  const { properties } = schemaOf({
    type: "object",
    properties: { a: { type: "object", description: "x\ud800\0y", properties: { "b\ud800": { enum: ["\ud801"] } } } },
  });
  const inner = { "b\ufffd": { enum: ["\ufffd"] } };
  expect(properties).toEqual({ a: { type: "object", description: "x\ufffdy", properties: inner } });
});
