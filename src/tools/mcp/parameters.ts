// A tool's input schema as every provider takes it: an object at the top, nothing there but properties, nothing in it that JSON Schema
// 2020-12 does not know. Pure. What cannot be said is loosened, never tightened: the server checks its arguments itself.
import { isObject } from "../../util/is-object.ts";

type Json = Readonly<Record<string, unknown>>;

export interface Parameters {
  /** For `ToolSpec`. */
  readonly schema: Record<string, unknown>;
  /** The model's arguments with the names that the server knows. */
  readonly toArguments: (args: Readonly<Record<string, unknown>>) => Record<string, unknown>;
}

/** What a property may be called, for Anthropic (`^[a-zA-Z0-9_.-]{1,64}$`). */
const propertyName = /^[a-zA-Z0-9_.-]{1,64}$/;
const maxDepth = 64;

/** Undefined for a schema that is none of an object. One that is missing stands for no arguments. */
export function toParameters(inputSchema: unknown = { type: "object" }): Parameters | undefined {
  if (!isObject(inputSchema) || (inputSchema.type !== undefined && inputSchema.type !== "object")) return undefined;
  const root = inputSchema;
  const top = flatten(root, root, new Map());
  const renamed = new Map<string, string>();
  const properties: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries(top.properties)) {
    const sent = propertyName.test(name) ? name : freeName(name, { ...top.properties, ...properties });
    if (sent !== name) renamed.set(sent, name);
    properties[sent] = clean(schema, root, 0);
  }
  const sentNames = new Map([...renamed].map(([sent, name]) => [name, sent]));
  const required = top.required
    .map((name) => sentNames.get(name) ?? name)
    .filter((name) => Object.hasOwn(properties, name));
  const definitions = ["$defs", "definitions"].flatMap((key) => {
    const value = root[key];
    return isObject(value) ? [[key, mapValues(value, (schema) => clean(schema, root, 0))]] : [];
  });
  const description = typeof root.description === "string" ? { description: root.description } : {};
  const additional = "additionalProperties" in root ? clean(root.additionalProperties, root, 0) : undefined;
  const schema = {
    type: "object",
    ...description,
    properties,
    ...(required.length > 0 ? { required } : {}),
    ...(additional === undefined ? {} : { additionalProperties: additional }),
    ...Object.fromEntries(definitions),
  };
  return {
    schema: tidy(schema, schema, sentNames) as Record<string, unknown>,
    toArguments: (args) =>
      Object.fromEntries(Object.entries(args).map(([name, value]) => [renamed.get(name) ?? name, value])),
  };
}

interface Top {
  readonly properties: Json;
  readonly required: readonly string[];
}

const nothing: Top = { properties: {}, required: [] };

/**
 * The properties of a schema and of its parts: all of an `allOf`, any of an `anyOf` or `oneOf`, where only what each needs is needed. Each
 * part is looked at once, however often it is referred to, and a part inside itself adds nothing; `known` holds what came of them.
 */
function flatten(schema: Json, root: Json, known: Map<Json, Top>): Top {
  const before = known.get(schema);
  if (before) return before;
  known.set(schema, nothing);
  const part = (value: unknown): Top => (isObject(value) ? flatten(value, root, known) : nothing);
  const own: Top = {
    properties: isObject(schema.properties) ? schema.properties : {},
    required: isTexts(schema.required) ? schema.required : [],
  };
  const target = typeof schema.$ref === "string" ? resolve(schema.$ref, root) : undefined;
  const all = [...(target ? [part(target)] : []), ...listOf(schema.allOf).map(part), own];
  const choices = [listOf(schema.anyOf), listOf(schema.oneOf)].filter((options) => options.length > 0);
  const any = choices.map((options): Top => {
    const parts = options.filter(isObject).map(part);
    const [first, ...others] = parts;
    return {
      properties: Object.assign({}, ...parts.map(({ properties }) => properties)),
      required: first?.required.filter((name) => others.every(({ required }) => required.includes(name))) ?? [],
    };
  });
  const top: Top = {
    properties: Object.assign({}, ...[...any, ...all].map(({ properties }) => properties)),
    required: [...new Set([...all, ...any].flatMap(({ required }) => required))],
  };
  known.set(schema, top);
  return top;
}

function freeName(name: string, taken: Json): string {
  const base = name.replace(/[^a-zA-Z0-9_.-]/g, "_").slice(0, 60) || "_";
  for (let n = 1; ; n++) {
    const sent = n === 1 ? base : `${base}_${n}`;
    if (!Object.hasOwn(taken, sent)) return sent;
  }
}

const types = new Set(["object", "array", "string", "integer", "number", "boolean", "null"]);
const schemaMaps = ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];
const schemaLists = ["anyOf", "oneOf", "allOf", "prefixItems"];
const schemas = [
  "items",
  "additionalProperties",
  "not",
  "if",
  "then",
  "else",
  "contains",
  "propertyNames",
  "unevaluatedProperties",
  "unevaluatedItems",
];

/** What the values of keywords have to be; one that is not is left out. */
const valueTypes: Readonly<Record<string, "string" | "number" | "boolean">> = {
  ...typed("string", ["title", "description", "format", "pattern", "contentEncoding", "contentMediaType"]),
  ...typed("number", ["minimum", "maximum", "multipleOf", "minLength", "maxLength", "minItems", "maxItems"]),
  ...typed("number", ["minProperties", "maxProperties", "minContains", "maxContains"]),
  ...typed("boolean", ["uniqueItems", "readOnly", "writeOnly", "deprecated"]),
};

function typed<Type>(type: Type, keywords: readonly string[]): Record<string, Type> {
  return Object.fromEntries(keywords.map((keyword) => [keyword, type]));
}

/** A schema without what is no JSON Schema 2020-12: keywords of older drafts in their new form, wrong ones left out. */
function clean(schema: unknown, root: Json, depth: number): unknown {
  if (typeof schema === "boolean") return schema;
  if (!isObject(schema) || depth > maxDepth) return {};
  const inner = (value: unknown) => clean(value, root, depth + 1);
  const result: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(schema)) {
    if (key === "type") {
      const known = (Array.isArray(value) ? value : [value]).filter((type) => types.has(type as string));
      if (known.length > 0) result.type = Array.isArray(value) ? known : known[0];
    } else if (key === "required") {
      if (isTexts(value)) result.required = [...new Set(value)];
    } else if (key === "exclusiveMinimum" || key === "exclusiveMaximum") {
      const limit = schema[key === "exclusiveMinimum" ? "minimum" : "maximum"];
      if (typeof value === "number") result[key] = value;
      else if (value === true && typeof limit === "number") result[key] = limit;
    } else if (key === "items" && Array.isArray(value)) {
      result.items = value.length > 0 ? { anyOf: value.map(inner) } : {};
    } else if (key === "$ref") {
      if (typeof value === "string" && resolve(value, root)) result.$ref = value;
    } else if (key === "enum") {
      if (Array.isArray(value) && value.length > 0) result.enum = value;
    } else if (Object.hasOwn(valueTypes, key)) {
      if (typeof value === valueTypes[key]) result[key] = value;
    } else if (schemaMaps.includes(key)) {
      if (isObject(value)) result[key] = mapValues(value, inner);
    } else if (schemaLists.includes(key)) {
      if (Array.isArray(value) && value.length > 0) result[key] = value.map(inner);
    } else if (schemas.includes(key)) {
      if (isObject(value) || typeof value === "boolean") result[key] = inner(value);
    } else if (
      ![
        "$schema",
        "$id",
        "id",
        "$anchor",
        "$dynamicRef",
        "$dynamicAnchor",
        "$vocabulary",
        "$comment",
        "dependencies",
        "additionalItems",
      ].includes(key)
    ) {
      result[key] = value;
    }
  }
  const isArray = result.type === "array" || (Array.isArray(result.type) && result.type.includes("array"));
  // OpenAI refuses a list that says nothing of what is in it.
  if (isArray && result.items === undefined) result.items = {};
  return result;
}

/**
 * A value of the finished `schema` with texts that are Unicode, and with references that lead somewhere in it: those to a property by the name
 * that it has now, and no others.
 */
function tidy(value: unknown, schema: Json, sentNames: ReadonlyMap<string, string>): unknown {
  if (typeof value === "string") return wellFormed(value);
  if (Array.isArray(value)) return value.map((entry) => tidy(entry, schema, sentNames));
  if (!isObject(value)) return value;
  const entries = Object.entries(value).flatMap(([key, inner]): [string, unknown][] => {
    if (key !== "$ref" || typeof inner !== "string") return [[wellFormed(key), tidy(inner, schema, sentNames)]];
    const ref = inner.replace(/^(#\/properties\/)([^/]*)/, (whole, start: string, name: string) => {
      const sent = sentNames.get(decodePart(name));
      return sent === undefined ? whole : `${start}${sent}`;
    });
    return resolve(ref, schema) ? [[key, ref]] : [];
  });
  return Object.fromEntries(entries);
}

function wellFormed(text: string): string {
  return text.toWellFormed().replaceAll("\0", "");
}

/** A part of a JSON pointer as the name that it stands for. */
function decodePart(part: string): string {
  return part.replaceAll("~1", "/").replaceAll("~0", "~");
}

/** What a reference into the schema itself names (RFC 6901); undefined for any other. */
function resolve(ref: string, root: Json): Json | undefined {
  if (!ref.startsWith("#/")) return undefined;
  let target: unknown = root;
  for (const part of ref.slice(2).split("/")) {
    const name = decodePart(part);
    if (!isObject(target) || !Object.hasOwn(target, name)) return undefined;
    target = target[name];
  }
  return isObject(target) ? target : undefined;
}

function mapValues(values: Json, map: (value: unknown) => unknown): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, map(value)]));
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((entry) => typeof entry === "string");
}
