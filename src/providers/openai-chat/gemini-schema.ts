// JSON Schema → the subset that Gemini's OpenAI-compatible endpoint takes for tools (Gemini API reference, "Schema"; a field outside of it
// fails the whole request). Pure. What the subset cannot say is loosened, never tightened: the tool itself checks its arguments in full.
import type { ToolSpec } from "../../protocol/message.ts";
import { isObject } from "../../util/is-object.ts";

export interface GeminiSchema {
  type?: "object" | "array" | "string" | "number" | "integer" | "boolean";
  description?: string;
  nullable?: true;
  enum?: string[];
  format?: string;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  items?: GeminiSchema;
  properties?: Record<string, GeminiSchema>;
  required?: string[];
  /** Stands alone: the options carry what else there is to say. */
  anyOf?: GeminiSchema[];
}

/** A tool as it is sent; one without arguments has no `parameters`, since an empty object is refused. */
export interface GeminiTool {
  readonly name: string;
  readonly description: string;
  readonly parameters?: GeminiSchema;
}

/** The tools that can be sent, and a line about each that cannot. */
export function toGeminiTools(tools: readonly ToolSpec[]): { tools: GeminiTool[]; warnings: string[] } {
  const converted: GeminiTool[] = [];
  const warnings: string[] = [];
  for (const { name, description, parameters } of tools) {
    const result = toGeminiSchema(parameters);
    if ("problem" in result) warnings.push(`Tool ${name} is left out for Gemini: ${result.problem}`);
    else if (result.schema.properties) converted.push({ name, description, parameters: result.schema });
    else converted.push({ name, description });
  }
  return { tools: converted, warnings };
}

/** The schema of a tool's arguments; `problem` says what keeps it from being converted, and where. */
export function toGeminiSchema(schema: unknown): { schema: GeminiSchema } | { problem: string } {
  try {
    const converted = convert(isOpen(schema) ? { ...schema, type: "object" } : schema, {
      root: schema,
      path: "",
      expanding: [],
      budget: { nodes: maxNodes },
    });
    if (converted.type !== "object") return { problem: "its parameters are not an object" };
    delete converted.nullable;
    return { schema: converted };
  } catch (error) {
    if (error instanceof Unconvertible) return { problem: error.message };
    throw error;
  }
}

/** Whether a schema says nothing of its kind; for the arguments as a whole that means an object. */
function isOpen(schema: unknown): schema is Json {
  return isObject(schema) && !["type", "$ref", "allOf", "anyOf", "oneOf", "enum", "const"].some((key) => key in schema);
}

/** Inlined references can multiply; no tool that is any use to a model comes near this. */
const maxNodes = 2000;

class Unconvertible extends Error {}

type Json = Readonly<Record<string, unknown>>;

interface Place {
  readonly root: unknown;
  /** For messages, such as `/filter/items`. */
  readonly path: string;
  /** References that are being inlined around this place. */
  readonly expanding: readonly string[];
  readonly budget: { nodes: number };
}

const scalars = ["string", "integer", "number", "boolean"] as const;
const types = ["object", "array", ...scalars] as const;
type Type = (typeof types)[number];

const formats: Partial<Record<Type, readonly string[]>> = {
  string: ["enum", "date-time"],
  number: ["float", "double"],
  integer: ["int32", "int64"],
};

function convert(schema: unknown, place: Place): GeminiSchema {
  if (--place.budget.nodes < 0) throw new Unconvertible("its parameters are too large once references are inlined");
  // `true` and `{}` allow anything, which has no name here; text can hold anything.
  if (schema === true) return { type: "string" };
  if (!isObject(schema)) fail(place, "is not a schema");
  if (typeof schema.$ref === "string") return inline(schema.$ref, schema, place);
  if (Array.isArray(schema.allOf)) {
    const refs: string[] = [];
    const merged = mergeAll(schema, schema.allOf, place, refs);
    return convert(merged, { ...place, expanding: [...place.expanding, ...refs] });
  }
  const union = unionOf(schema);
  if (union) return convertUnion(schema, union, place);
  return convertOne(schema, place);
}

/** The options of a schema that is one of several: by `anyOf`, `oneOf` or a list of types. */
function unionOf(schema: Json): unknown[] | undefined {
  const options = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(options) && options.length > 0) {
    // Options beside properties only say which of them go together; what is left to tell is whether null is one.
    return isObject(schema.properties) ? [{ type: "object" }, ...options.filter(isNull)] : options;
  }
  return Array.isArray(schema.type) ? schema.type.map((type) => ({ type })) : undefined;
}

function convertUnion(schema: Json, union: readonly unknown[], place: Place): GeminiSchema {
  const { anyOf: _, oneOf: __, type, ...rest } = schema;
  const base: Json = typeof type === "string" ? { ...rest, type } : rest;
  const options = union.filter((option) => option !== false && !isNull(option));
  // Of several options each describes itself; beside a lone one the place where it stands knows better.
  const own = options.length === 1 && base.description !== undefined ? { description: base.description } : {};
  const converted = options.map((option) => convert(isObject(option) ? { ...base, ...option, ...own } : option, place));
  const [only = convertOne({ ...base, type: "null" }, place), ...others] = unique(converted);
  const result =
    others.length === 0 ? only : { anyOf: [only, ...others].flatMap((option) => option.anyOf ?? [option]) };
  return union.some(isNull) ? toNullable(result) : result;
}

function convertOne(schema: Json, place: Place): GeminiSchema {
  const values = "const" in schema ? [schema.const] : Array.isArray(schema.enum) ? schema.enum : undefined;
  const present = values?.filter((value) => value !== null);
  const type = typeOf(schema, present, place);
  const result: GeminiSchema = { type: type === "null" ? "string" : type };
  if (typeof schema.description === "string" && schema.description !== "") result.description = schema.description;
  if (type === "null" || schema.nullable === true || present?.length !== values?.length) result.nullable = true;
  if (present && present.length > 0) addValues(result, present);
  if (typeof schema.format === "string" && formats[result.type!]?.includes(schema.format))
    result.format = schema.format;
  if (type === "object") addProperties(result, schema, place);
  if (type === "array") addItems(result, schema, place);
  if (type === "number" || type === "integer") addRange(result, schema, type);
  if (type === "string") copyCounts(result, schema, ["minLength", "maxLength"]);
  return result;
}

function typeOf(schema: Json, values: readonly unknown[] | undefined, place: Place): Type | "null" {
  const { type } = schema;
  if (types.includes(type as Type)) return type as Type;
  if (type === "null" || (type === undefined && values?.length === 0)) return "null";
  if (type !== undefined) fail(place, `has the unknown type ${JSON.stringify(type)}`);
  if (isObject(schema.properties) || isObject(schema.additionalProperties)) return "object";
  if (schema.items !== undefined || schema.prefixItems !== undefined) return "array";
  if (values) return scalars.find((scalar) => values.every((value) => isOf(scalar, value))) ?? "string";
  return "string";
}

function isOf(type: (typeof scalars)[number], value: unknown): boolean {
  return type === "integer" ? Number.isInteger(value) : typeof value === type;
}

/** Only texts can be listed, and none of them empty; other values are told in words. */
function addValues(result: GeminiSchema, values: readonly unknown[]): void {
  const texts = values.filter((value): value is string => typeof value === "string" && value !== "");
  if (result.type === "string" && texts.length === values.length) result.enum = [...new Set(texts)];
  else note(result, values);
}

function note(result: GeminiSchema, values: readonly unknown[]): void {
  const list = values.map((value) => JSON.stringify(value)).join(", ");
  const text = values.length === 1 ? `Always ${list}.` : `One of ${list}.`;
  result.description = result.description === undefined ? text : `${result.description} (${text.slice(0, -1)})`;
}

function addProperties(result: GeminiSchema, schema: Json, place: Place): void {
  if (!isObject(schema.properties)) return;
  const entries = Object.entries(schema.properties)
    .filter(([, property]) => property !== false)
    .map(([name, property]) => [name, convert(property, inside(place, name))] as const);
  if (entries.length === 0) return;
  result.properties = Object.fromEntries(entries);
  const known = new Set(entries.map(([name]) => name));
  const required = Array.isArray(schema.required) ? schema.required.filter((name) => known.has(name)) : [];
  if (required.length > 0) result.required = [...new Set<string>(required)];
}

function addItems(result: GeminiSchema, schema: Json, place: Place): void {
  // A tuple, in its new and its old form, becomes a list of any of its parts.
  const tuple = [schema.prefixItems, schema.items].find(Array.isArray);
  const items = tuple
    ? tuple.length > 0
      ? { anyOf: tuple }
      : true
    : schema.items === false
      ? true
      : (schema.items ?? true);
  result.items = convert(items, inside(place, "items"));
  copyCounts(result, schema, ["minItems", "maxItems"]);
}

function copyCounts(
  result: GeminiSchema,
  schema: Json,
  keys: readonly ("minItems" | "maxItems" | "minLength" | "maxLength")[],
) {
  for (const key of keys) {
    const value = schema[key];
    if (Number.isSafeInteger(value) && (value as number) >= 0) result[key] = value as number;
  }
}

/** An exclusive bound becomes the next whole number for integers, and the bound itself for other numbers. */
function addRange(result: GeminiSchema, schema: Json, type: "number" | "integer"): void {
  const { minimum, maximum, exclusiveMinimum: above, exclusiveMaximum: below } = schema;
  const whole = type === "integer";
  const lows = [minimum, typeof above === "number" && whole ? Math.floor(above) + 1 : above].filter(isNumber);
  const highs = [maximum, typeof below === "number" && whole ? Math.ceil(below) - 1 : below].filter(isNumber);
  if (lows.length > 0) result.minimum = Math.max(...lows);
  if (highs.length > 0) result.maximum = Math.min(...highs);
}

/** The schema a reference names, with what stands beside it. One that leads back into itself ends as just its type. */
function inline(ref: string, schema: Json, place: Place): GeminiSchema {
  const { $ref: _, ...beside } = schema;
  const target = resolve(ref, place);
  if (!isObject(target)) return convert(target, place);
  if (place.expanding.includes(ref)) return convertOne({ ...outline(target), ...beside }, place);
  return convert({ ...target, ...beside }, { ...place, expanding: [...place.expanding, ref] });
}

/** What a schema is, without what is in it. */
function outline({ type, properties, description }: Json): Json {
  const one = Array.isArray(type) ? type.find((name) => name !== "null") : type;
  return { type: one ?? (isObject(properties) ? "object" : undefined), description };
}

/** A JSON pointer into the schema itself (RFC 6901). */
function resolve(ref: string, place: Place): unknown {
  if (!ref.startsWith("#")) fail(place, `refers to ${ref}, outside of the schema`);
  let target = place.root;
  for (const part of ref.split("/").slice(1)) {
    const name = decode(part).replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof target !== "object" || target === null || !Object.hasOwn(target, name)) {
      fail(place, `refers to ${ref}, which is not there`);
    }
    target = (target as Json)[name];
  }
  return target;
}

/** All parts of an `allOf` as one schema: properties and required names added up, other keywords from the last that has them. */
function mergeAll(schema: Json, parts: readonly unknown[], place: Place, refs: string[]): Json {
  const { allOf: _, ...own } = schema;
  const merged: Record<string, unknown> = {};
  for (const part of [...parts, own]) {
    const flat = flatten(part, place, refs);
    const properties = { ...(merged.properties as object), ...(flat.properties as object) };
    const required = [merged.required, flat.required].flatMap((names) => (Array.isArray(names) ? names : []));
    Object.assign(merged, flat);
    if (Object.keys(properties).length > 0) merged.properties = properties;
    if (required.length > 0) merged.required = required;
  }
  return merged;
}

/** A part with its references and parts of its own dissolved; `refs` gathers the references followed. */
function flatten(part: unknown, place: Place, refs: string[]): Json {
  if (!isObject(part)) return {};
  const { $ref: ref, ...beside } = part;
  if (typeof ref === "string") {
    const target = resolve(ref, place);
    if (!isObject(target)) return beside;
    if (refs.includes(ref) || place.expanding.includes(ref)) return { ...outline(target), ...beside };
    refs.push(ref);
    return { ...flatten(target, place, refs), ...beside };
  }
  return Array.isArray(part.allOf) ? mergeAll(part, part.allOf, place, refs) : part;
}

function toNullable(schema: GeminiSchema): GeminiSchema {
  return schema.anyOf ? { anyOf: schema.anyOf.map(toNullable) } : { ...schema, nullable: true };
}

function isNull(option: unknown): boolean {
  return isObject(option) && (option.type === "null" || ("const" in option && option.const === null));
}

function unique(schemas: readonly GeminiSchema[]): GeminiSchema[] {
  return [...new Map(schemas.map((schema) => [JSON.stringify(schema), schema])).values()];
}

function inside(place: Place, name: string): Place {
  return { ...place, path: `${place.path}/${name}` };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function isNumber(value: unknown): value is number {
  return typeof value === "number";
}

function fail(place: Place, problem: string): never {
  const what = place.path === "" ? "the schema of its parameters" : `its parameter ${place.path.slice(1)}`;
  throw new Unconvertible(`${what} ${problem}`);
}
