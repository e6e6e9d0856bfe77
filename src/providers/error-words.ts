// What a provider says of a failure in words, without the JSON or the page they came in. Pure.
import { isObject } from "../util/is-object.ts";
import { headOf, oneLine } from "../util/truncate.ts";

const longestRest = 300;
/** What is told already, by the status in front or by the error's name. */
const told = new Set(["message", "detail", "error", "code", "status", "statusCode", "type", "object", "param"]);

/**
 * Such as `invalid_api_key: Incorrect API key provided`, with whatever else an error object holds behind it, as JSON; of a page its title.
 * A body that has no words in a place we know stays as it is.
 */
export function toWords(body: string): string {
  const title = titleOf(body);
  if (title !== undefined) return `a page with the title "${title}"`;
  const answer = parse(body);
  const outer = Array.isArray(answer) && answer.length === 1 ? answer[0] : answer;
  if (!isObject(outer)) return body;
  const inner = isObject(outer.error) ? outer.error : outer;
  const message = [inner.message, inner.detail, inner.error].find(isText);
  if (message === undefined) return body;
  const name = [inner.code, inner.status, inner.type, inner.error].find((text) => isName(text) && text !== message);
  const rest = Object.entries({ ...outer, ...inner }).filter(([key, value]) => !told.has(key) && value != null);
  return [
    name === undefined ? message : `${name}: ${message}`,
    ...(rest.length > 0 ? [headOf(JSON.stringify(Object.fromEntries(rest)), longestRest)] : []),
  ].join(" ");
}

/** The title of an HTML page, on one line. */
export function titleOf(page: string): string | undefined {
  const title = /^\s*<(?:!doctype|html)\b[\s\S]*?<title[^>]*>([^<]+)/i.exec(page)?.[1];
  return title === undefined ? undefined : oneLine(title, longestRest);
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value.trim() !== "";
}

/** A status as text, such as Azure's `"code": "401"`, stands in front anyway. */
function isName(value: unknown): boolean {
  return isText(value) && !/^[45]\d\d$/.test(value);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
