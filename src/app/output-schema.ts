// `--output-schema`: the JSON Schema (draft 2020-12) that an answer must be valid against, and what the model is told of it.
import { readFileSync, statSync } from "node:fs";
import type { Review } from "../agent/loop.ts";
import { AppError } from "../util/error.ts";
import { oneLine } from "../util/truncate.ts";

export interface OutputSchema {
  /** A paragraph for the system prompt. */
  readonly instructions: string;
  /** Accepts an answer that is one JSON text and valid, as that text; a code fence around all of it does not count. */
  review(answer: string): Review;
}

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
interface JsonObject {
  [key: string]: Json;
}

/** What is wrong at one place, as the validator tells it. */
interface Problem {
  readonly absoluteKeywordLocation: string;
  readonly instanceLocation: string;
}

const draft = "https://json-schema.org/draft/2020-12/schema";
const uri = "output-schema:/";
const maxBytes = 1024 * 1024;
/** Most problems that one complaint names. */
const maxProblems = 20;

/** `value` is the schema itself, or the file that has it (relative to `cwd`). Throws `AppError` `usage` for what is no such schema, naming the place. */
export async function loadOutputSchema(value: string, cwd: string): Promise<OutputSchema> {
  const { text, source } = await readSchema(value, cwd);
  const schema = parseSchema(text, source);
  const validate = await compile(schema, source);
  return {
    instructions: `Your final answer (the message in which you call no tool any more) must be one JSON text and nothing else: no words around it, no code fence. It must be valid against this JSON Schema (draft 2020-12):\n\n${JSON.stringify(schema)}`,
    review(answer) {
      const json = withoutFence(answer);
      let value: Json;
      try {
        value = JSON.parse(json);
      } catch (error) {
        return complain([`It is not JSON: ${(error as Error).message}`]);
      }
      let problems: readonly Problem[];
      try {
        problems = validate(value);
      } catch (error) {
        if (!(error instanceof RangeError)) throw error;
        return complain(["It is nested too deeply to be checked"]);
      }
      if (problems.length === 0) return { accepted: json };
      return complain(problems.map((problem) => describe(problem, value, schema)));
    },
  };
}

async function readSchema(value: string, cwd: string): Promise<{ text: string; source: string }> {
  if (value.trimStart().startsWith("{")) return { text: value, source: "--output-schema" };
  const { resolvePath } = await import("../util/paths.ts");
  const path = resolvePath(cwd, value);
  try {
    const stat = statSync(path);
    if (!stat.isFile()) throw new Error("it is not a regular file");
    if (stat.size > maxBytes) throw new Error(`it is larger than ${maxBytes / 1024 / 1024} MB`);
    return { text: readFileSync(path, "utf8").replace(/^\ufeff/, ""), source: path };
  } catch (error) {
    throw new AppError("usage", `Cannot read the output schema ${path}: ${(error as Error).message}`, {
      hint: "--output-schema takes a file, or the schema itself as a JSON object.",
      cause: error,
    });
  }
}

function parseSchema(text: string, source: string): JsonObject {
  let schema: Json;
  try {
    schema = JSON.parse(text);
  } catch (error) {
    throw badSchema(source, `it is not JSON: ${(error as Error).message}`);
  }
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) {
    throw badSchema(source, "it is not a JSON object");
  }
  const { $schema } = schema;
  if ($schema !== undefined && (typeof $schema !== "string" || $schema.replace(/#$/, "") !== draft)) {
    throw badSchema(source, `its $schema is ${JSON.stringify($schema)}, and only draft 2020-12 is known (${draft})`);
  }
  return schema;
}

/** The problems of a value with the schema, none when it is valid. */
async function compile(schema: JsonObject, source: string): Promise<(value: Json) => readonly Problem[]> {
  const [{ registerSchema, unregisterSchema, setMetaSchemaOutputFormat, validate }, { removeUriSchemePlugin }] =
    await Promise.all([import("@hyperjump/json-schema/draft-2020-12"), import("@hyperjump/browser")]);
  // A schema is no reason to open other files, let alone connections.
  for (const scheme of ["http", "https", "file"]) removeUriSchemePlugin(scheme);
  setMetaSchemaOutputFormat("BASIC");
  try {
    registerSchema(schema, uri, draft);
    const validator = await validate(uri);
    // Does not come back where references lead in a circle.
    validator(null, "BASIC");
    return (value) => {
      const result = validator(value, "BASIC");
      return result.valid ? [] : (result.errors ?? []);
    };
  } catch (error) {
    throw badSchema(source, explain(error, schema));
  } finally {
    // What it compiled needs it no more, and another schema may come under the same name.
    unregisterSchema(uri);
  }
}

/** What the validator has against a schema: its own rules, a reference that leads nowhere, or a pattern. */
function explain(error: unknown, schema: JsonObject): string {
  const { message, output } = error as Error & { output?: { errors?: readonly Problem[] } };
  const [first, ...others] = output?.errors ?? [];
  if (error instanceof RangeError) return "its references lead in a circle, or it is nested too deeply";
  const place = error instanceof SyntaxError ? findBadPattern(schema) : undefined;
  if (!first) return `${place === undefined ? "" : `${place}: `}${message.replaceAll(uri, "")}`;
  // The deepest place says most.
  const problem = others.reduce((best, other) => (depth(other) > depth(best) ? other : best), first);
  const value = valueAt(schema, problem.instanceLocation);
  return `${pointer(problem.instanceLocation) || "the whole"} cannot be ${oneLine(JSON.stringify(value) ?? "", 200)}`;
}

/** Where the first pattern stands that is no regular expression; the validator says only what is wrong with it. */
function findBadPattern(value: Json, place = ""): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  for (const [key, inner] of Object.entries(value)) {
    const here = `${place}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    const patterns = key === "pattern" ? [inner] : key === "patternProperties" ? Object.keys(inner ?? {}) : [];
    if (patterns.some((pattern) => typeof pattern === "string" && !isPattern(pattern))) return here;
    const found = findBadPattern(inner, here);
    if (found !== undefined) return found;
  }
  return undefined;
}

function isPattern(text: string): boolean {
  try {
    return new RegExp(text, "u") instanceof RegExp;
  } catch {
    return false;
  }
}

function depth({ instanceLocation }: Problem): number {
  return pointer(instanceLocation).split("/").length;
}

function badSchema(source: string, why: string): AppError {
  return new AppError("usage", `${source} is no usable output schema: ${why}`, {
    hint: "It must be a JSON Schema of draft 2020-12; references may lead only within it.",
  });
}

/** One problem in words: where, what stands there, and which rule it breaks. */
function describe({ instanceLocation, absoluteKeywordLocation }: Problem, value: Json, schema: JsonObject): string {
  const keyword = pointer(absoluteKeywordLocation);
  const rule = valueAt(schema, absoluteKeywordLocation);
  const name = keyword.slice(keyword.lastIndexOf("/") + 1);
  const shown = oneLine(JSON.stringify(valueAt(value, instanceLocation)) ?? "", 100);
  const broken = rule === undefined ? keyword : `"${name}": ${oneLine(JSON.stringify(rule), 200)}`;
  return `At ${pointer(instanceLocation) || "the top"}, ${shown} breaks the rule ${broken}`;
}

function complain(problems: readonly string[]): Review {
  const shown = problems.slice(0, maxProblems).map((problem) => `- ${problem}`);
  const rest = problems.length > maxProblems ? [`- and ${problems.length - maxProblems} more`] : [];
  const list = [...shown, ...rest].join("\n");
  return {
    problems: list,
    complaint: `Your answer is not what was asked for:\n${list}\nAnswer again with the JSON text alone, valid against the schema.`,
  };
}

/** The JSON Pointer (RFC 6901) in the fragment of a location; "" for the whole. */
function pointer(location: string): string {
  return decodeURIComponent(location.slice(location.indexOf("#") + 1));
}

function valueAt(value: Json, location: string): Json | undefined {
  let found: Json | undefined = value;
  for (const part of pointer(location).split("/").slice(1)) {
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
    found = typeof found === "object" && found !== null ? (found as JsonObject)[key] : undefined;
  }
  return found;
}

/** The text inside, when the whole answer is one code fence of JSON. */
function withoutFence(answer: string): string {
  const text = answer.trim();
  return /^```(?:json)?[ \t]*\r?\n([\s\S]*?)\r?\n?```$/i.exec(text)?.[1]?.trim() ?? text;
}
