// The schema of an answer: what is one, what is valid against it, and what the model is told of an answer that is not.
import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { loadOutputSchema } from "../../src/app/output-schema.ts";
import { tmp } from "../helpers/tmp.ts";

const person = {
  type: "object",
  properties: { name: { type: "string" }, age: { type: "integer", minimum: 0 } },
  required: ["name"],
  additionalProperties: false,
};

async function review(schema: unknown, answer: string) {
  const { review } = await loadOutputSchema(JSON.stringify(schema), "/");
  return review(answer);
}

describe("an answer", () => {
  test.each([
    ["JSON", '{"name":"Ada"}', '{"name":"Ada"}'],
    ["JSON between blanks", '\n {"name": "Ada"}\n', '{"name": "Ada"}'],
    ["one fence", '```json\n{"name":"Ada"}\n```', '{"name":"Ada"}'],
    ["one fence without a language", '```\n{"name":"Ada"}\n```\n', '{"name":"Ada"}'],
    [
      "large numbers as they were written",
      '{"name":"n","age":12345678901234567890}',
      '{"name":"n","age":12345678901234567890}',
    ],
  ])("%s is taken", async (_name, answer, accepted) => {
    expect(await review(person, answer)).toEqual({ accepted });
  });

  test.each([
    ["words around it", 'Here: {"name":"Ada"}', "It is not JSON"],
    ["words around a fence", 'Here:\n```json\n{"name":"Ada"}\n```', "It is not JSON"],
    ["two fences", '```json\n{"name":"A"}\n```\n```json\n{"name":"B"}\n```', "It is not JSON"],
    ["half of it", '{"name":', "It is not JSON"],
    ["a wrong type", '{"name":1}', 'At /name, 1 breaks the rule "type": "string"'],
    ["a missing property", "{}", 'At the top, {} breaks the rule "required": ["name"]'],
    ["one too many", '{"name":"A","x":1}', 'At /x, 1 breaks the rule "additionalProperties": false'],
    ["a number too small", '{"name":"A","age":-1}', 'At /age, -1 breaks the rule "minimum": 0'],
  ])("%s is not", async (_name, answer, why) => {
    expect(await review(person, answer)).toMatchObject({ complaint: expect.stringContaining(why) });
  });
});

// What of draft 2020-12 is new in it or often done wrong (https://json-schema.org/draft/2020-12).
test.each<[name: string, schema: object, valid: unknown, invalid: unknown]>([
  ["$ref to $defs", { $ref: "#/$defs/a", $defs: { a: { type: "string" } } }, "x", 1],
  ["$ref beside other rules", { $ref: "#/$defs/a", minLength: 2, $defs: { a: { type: "string" } } }, "xy", "x"],
  ["$anchor", { $ref: "#it", $defs: { a: { $anchor: "it", type: "string" } } }, "x", 1],
  ["$dynamicRef", { $dynamicRef: "#it", $defs: { a: { $dynamicAnchor: "it", type: "string" } } }, "x", 1],
  ["$id of its own", { $id: "https://example.com/s", $ref: "#/$defs/a", $defs: { a: { type: "string" } } }, "x", 1],
  [
    "a recursive schema",
    { properties: { next: { $ref: "#" } }, required: ["v"] },
    { v: 1, next: { v: 2 } },
    { v: 1, next: {} },
  ],
  ["prefixItems with items", { prefixItems: [{ type: "string" }], items: { type: "number" } }, ["a", 1], ["a", "b"]],
  ["contains with maxContains", { contains: { const: 1 }, maxContains: 1 }, [1, 2], [1, 1]],
  ["dependentRequired", { dependentRequired: { a: ["b"] } }, { a: 1, b: 1 }, { a: 1 }],
  ["unevaluatedProperties", { allOf: [{ properties: { a: true } }], unevaluatedProperties: false }, { a: 1 }, { b: 1 }],
  ["unevaluatedItems", { allOf: [{ prefixItems: [true] }], unevaluatedItems: false }, [1], [1, 2]],
  ["if, then, else", JSON.parse('{"if":{"type":"string"},"then":{"minLength":1},"else":{"const":0}}'), 0, ""],
  [
    "names that objects have anyway",
    { required: ["__proto__", "toString"] },
    JSON.parse('{"__proto__":1,"toString":1}'),
    {},
  ],
  ["length in characters", { maxLength: 1 }, "🌍", "ab"],
  ["multipleOf", { multipleOf: 0.01 }, 0.07, 0.075],
  ["1.0 is an integer", { type: "integer" }, 1.0, 1.5],
  ["uniqueItems by value", { uniqueItems: true }, [{ a: 1 }, { a: 2 }], [{ a: 1 }, { a: 1 }]],
  ["items as a list is no rule for other types", { minItems: 1 }, "no list", []],
])("%s", async (_name, schema, valid, invalid) => {
  expect(await review(schema, JSON.stringify(valid))).toEqual({ accepted: JSON.stringify(valid) });
  expect(await review(schema, JSON.stringify(invalid))).toMatchObject({ complaint: expect.any(String) });
});

describe("what is no usable schema", () => {
  test.each<[name: string, schema: string, why: string]>([
    ["an unknown type", '{"type":"objekt"}', '/type cannot be "objekt"'],
    [
      "a rule of a wrong type, deep inside",
      '{"properties":{"a":{"minimum":"x"}}}',
      '/properties/a/minimum cannot be "x"',
    ],
    ["items as in older drafts", '{"items":[{"type":"string"}]}', "/items cannot be ["],
    ["a reference that leads nowhere", '{"properties":{"a":{"$ref":"#/nope"}}}', "#/nope"],
    ["a pattern that is none", '{"pattern":"["}', "regular expression"],
    ["another draft", '{"$schema":"http://json-schema.org/draft-07/schema#"}', "only draft 2020-12 is known"],
    ["no JSON", "{type: 1}", "it is not JSON"],
    ["no such file", "nowhere.json", "ENOENT"],
  ])("%s", async (_name, schema, why) => {
    const loading = loadOutputSchema(schema, "/nowhere");
    await expect(loading).rejects.toMatchObject({ code: "usage", message: expect.stringContaining(why) });
  });

  test("a list, or a folder", async () => {
    await using dir = tmp();
    writeFileSync(dir.file("list.json"), "[]");
    await expect(loadOutputSchema("list.json", dir.path)).rejects.toMatchObject({
      message: expect.stringContaining("it is not a JSON object"),
    });
    await expect(loadOutputSchema(".", dir.path)).rejects.toMatchObject({
      message: expect.stringContaining("it is not a regular file"),
    });
  });

  test("one that refers to somewhere else; nobody is asked for it", async () => {
    let asked = 0;
    const server = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch() {
        asked++;
        return Response.json({ type: "string" });
      },
    });
    const schema = JSON.stringify({ $ref: `${server.url}schema.json` });
    await expect(loadOutputSchema(schema, "/")).rejects.toMatchObject({ code: "usage" });
    await server.stop(true);
    expect(asked).toBe(0);
  });
});

test("a file is as good as the text, and the model is shown the schema", async () => {
  await using dir = tmp();
  writeFileSync(
    dir.file("person.json"),
    JSON.stringify({ $schema: "https://json-schema.org/draft/2020-12/schema", ...person }),
  );
  const { instructions, review } = await loadOutputSchema("person.json", dir.path);
  expect(instructions).toContain('"required":["name"]');
  expect(review('{"name":"Ada"}')).toEqual({ accepted: '{"name":"Ada"}' });
});
