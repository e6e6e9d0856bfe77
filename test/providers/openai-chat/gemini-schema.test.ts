// JSON Schema as tools have it → what Gemini takes; each row a whole schema in, a whole schema out.
import { describe, expect, test } from "bun:test";
import { type GeminiSchema, toGeminiSchema, toGeminiTools } from "../../../src/providers/openai-chat/gemini-schema.ts";

/** Converts one property of an object. */
function convertProperty(schema: unknown, defs: Record<string, unknown> = {}): GeminiSchema | string | undefined {
  const result = toGeminiSchema({ type: "object", properties: { p: schema }, $defs: defs });
  return "problem" in result ? result.problem : result.schema.properties?.p;
}

describe("one property", () => {
  test.each<[string, unknown, GeminiSchema | string | undefined]>([
    ["a plain type", { type: "string", description: "d" }, { type: "string", description: "d" }],
    [
      "unknown keywords go",
      {
        type: "string",
        $comment: "c",
        title: "T",
        default: "x",
        examples: ["x"],
        pattern: "^x",
        deprecated: true,
        "x-y": 1,
      },
      { type: "string" },
    ],
    [
      "limits that are known stay",
      { type: "string", minLength: 1, maxLength: 9 },
      { type: "string", minLength: 1, maxLength: 9 },
    ],
    ["limits of another type go", { type: "string", minimum: 1, items: { type: "string" } }, { type: "string" }],
    ["limits that are no counts go", { type: "string", minLength: -1, maxLength: 1.5 }, { type: "string" }],

    ["a format that is known", { type: "string", format: "date-time" }, { type: "string", format: "date-time" }],
    ["a format that is not", { type: "string", format: "uri" }, { type: "string" }],
    ["a number's format", { type: "number", format: "double" }, { type: "number", format: "double" }],
    ["an integer's format", { type: "integer", format: "int64" }, { type: "integer", format: "int64" }],
    ["a format of another type", { type: "integer", format: "float" }, { type: "integer" }],

    ["nullable by a list of types", { type: ["string", "null"] }, { type: "string", nullable: true }],
    ["null first", { type: ["null", "integer"], minimum: 1 }, { type: "integer", minimum: 1, nullable: true }],
    [
      "a nullable object keeps its properties",
      { type: ["object", "null"], properties: { a: { type: "string" } }, required: ["a"] },
      { type: "object", properties: { a: { type: "string" } }, required: ["a"], nullable: true },
    ],
    [
      "nullable by anyOf",
      { anyOf: [{ type: "string", minLength: 1 }, { type: "null" }] },
      { type: "string", minLength: 1, nullable: true },
    ],
    ["nullable by oneOf", { oneOf: [{ type: "null" }, { type: "boolean" }] }, { type: "boolean", nullable: true }],
    ["nullable by const", { anyOf: [{ const: null }, { type: "boolean" }] }, { type: "boolean", nullable: true }],
    ["nullable as OpenAPI says it", { type: "string", nullable: true }, { type: "string", nullable: true }],
    [
      "the description of the place wins over that of its only option",
      { description: "outer", anyOf: [{ type: "string", description: "inner" }, { type: "null" }] },
      { type: "string", description: "outer", nullable: true },
    ],
    ["null alone", { type: "null" }, { type: "string", nullable: true }],

    [
      "several types",
      { type: ["string", "number"], minimum: 1 },
      { anyOf: [{ type: "string" }, { type: "number", minimum: 1 }] },
    ],
    [
      "a union stands alone, so its options carry the rest",
      { description: "d", anyOf: [{ type: "string" }, { type: "integer", description: "own" }, { type: "null" }] },
      {
        anyOf: [
          { type: "string", description: "d", nullable: true },
          { type: "integer", description: "own", nullable: true },
        ],
      },
    ],
    [
      "oneOf is anyOf",
      { oneOf: [{ type: "string" }, { type: "boolean" }] },
      { anyOf: [{ type: "string" }, { type: "boolean" }] },
    ],
    [
      "a union in a union",
      {
        anyOf: [
          { type: "string" },
          { oneOf: [{ type: "boolean" }, { type: "null" }] },
          { type: ["integer", "number"] },
        ],
      },
      { anyOf: [{ type: "string" }, { type: "boolean", nullable: true }, { type: "integer" }, { type: "number" }] },
    ],
    [
      "options that come out the same",
      { anyOf: [{ type: "string", format: "uri" }, { type: "string" }] },
      { type: "string" },
    ],
    ["options that only restrict", { type: "string", anyOf: [{ pattern: "a" }, { pattern: "b" }] }, { type: "string" }],
    [
      "options beside properties",
      {
        type: "object",
        properties: { a: { type: "string" }, b: {} },
        anyOf: [{ required: ["a"] }, { required: ["b"] }],
      },
      { type: "object", properties: { a: { type: "string" }, b: { type: "string" } } },
    ],
    [
      "a discriminated union",
      {
        oneOf: [
          { type: "object", properties: { kind: { const: "a" } }, required: ["kind"] },
          { type: "object", properties: { kind: { const: "b" }, n: { type: "integer" } }, required: ["kind", "n"] },
        ],
        discriminator: { propertyName: "kind" },
      },
      {
        anyOf: [
          { type: "object", properties: { kind: { type: "string", enum: ["a"] } }, required: ["kind"] },
          {
            type: "object",
            properties: { kind: { type: "string", enum: ["b"] }, n: { type: "integer" } },
            required: ["kind", "n"],
          },
        ],
      },
    ],

    ["an enum", { enum: ["a", "b", "a"] }, { type: "string", enum: ["a", "b"] }],
    [
      "an enum with null",
      { type: ["string", "null"], enum: ["a", null] },
      { type: "string", enum: ["a"], nullable: true },
    ],
    [
      "an enum with an empty text",
      { type: "string", enum: ["", "a"] },
      { type: "string", description: 'One of "", "a".' },
    ],
    [
      "an enum of integers",
      { enum: [1, 2], description: "How many" },
      { type: "integer", description: "How many (One of 1, 2)" },
    ],
    ["an enum of numbers", { type: "number", enum: [1, 2.5] }, { type: "number", description: "One of 1, 2.5." }],
    ["an enum of all sorts", { enum: ["a", 1] }, { type: "string", description: 'One of "a", 1.' }],
    ["a const", { const: "a" }, { type: "string", enum: ["a"] }],
    ["a const number", { const: 3 }, { type: "integer", description: "Always 3." }],
    ["a const boolean", { type: "boolean", const: true }, { type: "boolean", description: "Always true." }],

    ["an exclusive bound of an integer", { type: "integer", exclusiveMinimum: 0 }, { type: "integer", minimum: 1 }],
    [
      "of a number",
      { type: "number", exclusiveMinimum: 0, exclusiveMaximum: 1 },
      { type: "number", minimum: 0, maximum: 1 },
    ],
    [
      "with a bound of its own",
      { type: "integer", minimum: 5, exclusiveMinimum: 0, exclusiveMaximum: 9.5 },
      { type: "integer", minimum: 5, maximum: 9 },
    ],
    [
      "as older drafts say it",
      { type: "integer", minimum: 0, exclusiveMinimum: true },
      { type: "integer", minimum: 0 },
    ],

    [
      "an array",
      { type: "array", items: { type: "integer" }, minItems: 1 },
      { type: "array", items: { type: "integer" }, minItems: 1 },
    ],
    ["an array without items", { type: "array" }, { type: "array", items: { type: "string" } }],
    [
      "a tuple",
      { type: "array", prefixItems: [{ type: "string" }, { type: "string" }], items: false },
      { type: "array", items: { type: "string" } },
    ],
    [
      "a tuple in its old form",
      { items: [{ type: "string" }, { type: "number" }] },
      { type: "array", items: { anyOf: [{ type: "string" }, { type: "number" }] } },
    ],
    ["a tuple of nothing", { type: "array", items: [] }, { type: "array", items: { type: "string" } }],

    ["anything", {}, { type: "string" }],
    ["anything, as true", true, { type: "string" }],
    ["nothing goes away", false, undefined],
    ["a map", { type: "object", additionalProperties: { type: "string" } }, { type: "object" }],
    ["a map without a type", { additionalProperties: true, properties: {} }, { type: "object" }],
    [
      "required names that are not there",
      { type: "object", properties: { a: {}, b: false }, required: ["a", "b", "c", "a"] },
      { type: "object", properties: { a: { type: "string" } }, required: ["a"] },
    ],
    [
      "an object without its type",
      { properties: { a: { type: "string" } } },
      { type: "object", properties: { a: { type: "string" } } },
    ],
    [
      "properties named like keywords",
      { type: "object", properties: { type: {}, $ref: { type: "number" } } },
      { type: "object", properties: { type: { type: "string" }, $ref: { type: "number" } } },
    ],

    [
      "allOf is merged",
      {
        allOf: [
          { type: "object", properties: { a: { type: "string" } }, required: ["a"] },
          { properties: { b: { type: "string" } }, required: ["b"] },
        ],
        description: "both",
      },
      {
        type: "object",
        description: "both",
        properties: { a: { type: "string" }, b: { type: "string" } },
        required: ["a", "b"],
      },
    ],

    ["an unknown type", { type: "date" }, 'its parameter p has the unknown type "date"'],
    ["no schema at all", "string", "its parameter p is not a schema"],
    ["deep down", { type: "array", items: { properties: { q: 1 } } }, "its parameter p/items/q is not a schema"],
  ])("%s", (_, schema, expected) => {
    expect(convertProperty(schema)).toEqual(expected as GeminiSchema);
  });
});

describe("references", () => {
  const tree = {
    type: "object",
    description: "A node",
    properties: { name: { type: "string" }, children: { type: "array", items: { $ref: "#/$defs/tree" } } },
    required: ["name"],
  };
  const json = { anyOf: [{ type: "string" }, { type: "array", items: { $ref: "#/$defs/json" } }] };

  test.each<[string, unknown, Record<string, unknown>, GeminiSchema | string]>([
    ["inlined", { $ref: "#/$defs/a" }, { a: { type: "string", format: "uri" } }, { type: "string" }],
    [
      "with what stands beside it",
      { $ref: "#/$defs/a", description: "here" },
      { a: { type: "string", description: "there" } },
      { type: "string", description: "here" },
    ],
    [
      "one after another",
      { $ref: "#/$defs/a" },
      { a: { $ref: "#/$defs/b" }, b: { type: "number" } },
      { type: "number" },
    ],
    [
      "twice side by side",
      { anyOf: [{ $ref: "#/$defs/a" }, { type: "array", items: { $ref: "#/$defs/a" } }] },
      { a: { type: "number" } },
      { anyOf: [{ type: "number" }, { type: "array", items: { type: "number" } }] },
    ],
    [
      "nullable",
      { anyOf: [{ $ref: "#/$defs/a" }, { type: "null" }] },
      { a: { enum: ["x"] } },
      { type: "string", enum: ["x"], nullable: true },
    ],
    [
      "in a lone allOf",
      { allOf: [{ $ref: "#/$defs/a" }], description: "d" },
      { a: { type: "number" } },
      { type: "number", description: "d" },
    ],
    ["with escapes", { $ref: "#/$defs/a~1b%20c~0" }, { "a/b c~": { type: "boolean" } }, { type: "boolean" }],
    [
      "cut where it leads back into itself",
      { $ref: "#/$defs/tree" },
      { tree },
      {
        type: "object",
        description: "A node",
        properties: {
          name: { type: "string" },
          children: { type: "array", items: { type: "object", description: "A node" } },
        },
        required: ["name"],
      },
    ],
    [
      "cut in a union",
      { $ref: "#/$defs/json" },
      { json },
      { anyOf: [{ type: "string" }, { type: "array", items: { type: "string" } }] },
    ],
    [
      "cut inside allOf",
      { $ref: "#/$defs/a" },
      { a: { type: "object", properties: { next: { allOf: [{ $ref: "#/$defs/a" }], description: "next" } } } },
      { type: "object", properties: { next: { type: "object", description: "next" } } },
    ],
    ["cut where it is nothing else", { $ref: "#/$defs/a" }, { a: { $ref: "#/$defs/a" } }, { type: "string" }],
    ["to nowhere", { $ref: "#/$defs/none" }, {}, "its parameter p refers to #/$defs/none, which is not there"],
    [
      "to elsewhere",
      { $ref: "https://schemas.test/a" },
      {},
      "its parameter p refers to https://schemas.test/a, outside of the schema",
    ],
  ])("%s", (_, schema, defs, expected) => {
    expect(convertProperty(schema, defs)).toEqual(expected as GeminiSchema);
  });

  test("to the schema as a whole", () => {
    expect(toGeminiSchema({ type: "object", properties: { next: { $ref: "#" } } })).toEqual({
      schema: {
        type: "object",
        properties: { next: { type: "object", properties: { next: { type: "object" } } } },
      },
    });
  });

  test("that multiply are a problem, not an endless one", () => {
    const defs = Object.fromEntries(
      Array.from({ length: 40 }, (_, i) => {
        const next = { $ref: `#/$defs/d${i + 1}` };
        return [`d${i}`, { type: "object", properties: { a: next, b: next } }];
      }),
    );
    const expected = "its parameters are too large once references are inlined";
    expect(convertProperty({ $ref: "#/$defs/d0" }, { ...defs, d40: { type: "string" } })).toBe(expected);
  });

  test("nested without end as well", () => {
    let deep: unknown = { type: "string" };
    for (let i = 0; i < 5000; i++) deep = { type: "array", items: deep };
    expect(convertProperty(deep)).toBe("its parameters are too large once references are inlined");
  });
});

describe("the arguments as a whole", () => {
  const notObject = { problem: "its parameters are not an object" };
  test.each<[string, unknown, ReturnType<typeof toGeminiSchema>]>([
    [
      "by reference",
      { $ref: "#/$defs/a", $defs: { a: { type: "object", properties: { x: {} } } } },
      { schema: { type: "object", properties: { x: { type: "string" } } } },
    ],
    ["nullable", { type: ["object", "null"] }, { schema: { type: "object" } }],
    ["saying nothing", { $schema: "https://json-schema.org/draft/2020-12/schema" }, { schema: { type: "object" } }],
    ["a text", { type: "string" }, notObject],
    ["an array", { type: "array", items: {} }, notObject],
    [
      "a union",
      {
        oneOf: [
          { type: "object", properties: { a: {} } },
          { type: "object", properties: { b: {} } },
        ],
      },
      notObject,
    ],
    ["true", true, notObject],
    ["no schema", null, { problem: "the schema of its parameters is not a schema" }],
  ])("%s", (_, schema, expected) => {
    expect(toGeminiSchema(schema)).toEqual(expected);
  });

  test("the schema given is left as it was", () => {
    const schema = {
      type: "object",
      properties: { a: { type: ["string", "null"], enum: ["x", null] } },
      required: ["a"],
    };
    const before = structuredClone(schema);
    toGeminiSchema(schema);
    expect(schema).toEqual(before);
  });
});

test("tools: one that cannot be sent is left out with a warning, one without arguments has no parameters", () => {
  const everything = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    $defs: { node: { type: "object", properties: { next: { $ref: "#/$defs/node" } }, additionalProperties: false } },
    type: "object",
    properties: {
      url: { type: "string", format: "uri" },
      label: { type: ["string", "null"] },
      count: { type: "integer", exclusiveMinimum: 0 },
      mode: { const: "fast" },
      value: { oneOf: [{ type: "string" }, { type: "number" }] },
      list: { type: "array" },
      node: { $ref: "#/$defs/node" },
    },
    required: ["url"],
    additionalProperties: false,
  };
  const tools = [
    { name: "all", description: "All of it", parameters: everything },
    { name: "bad", description: "Bad", parameters: { type: "array" } },
    { name: "none", description: "None", parameters: { type: "object", properties: {}, additionalProperties: false } },
  ];
  expect(toGeminiTools(tools)).toEqual({
    tools: [
      {
        name: "all",
        description: "All of it",
        parameters: {
          type: "object",
          properties: {
            url: { type: "string" },
            label: { type: "string", nullable: true },
            count: { type: "integer", minimum: 1 },
            mode: { type: "string", enum: ["fast"] },
            value: { anyOf: [{ type: "string" }, { type: "number" }] },
            list: { type: "array", items: { type: "string" } },
            node: { type: "object", properties: { next: { type: "object" } } },
          },
          required: ["url"],
        },
      },
      { name: "none", description: "None" },
    ],
    warnings: ["Tool bad is left out for Gemini: its parameters are not an object"],
  });
});
