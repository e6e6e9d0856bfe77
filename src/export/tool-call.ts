// A tool call and its result: folded to one line, with all of it inside.
import type { ToolCall, ToolResultMessage } from "../protocol/message.ts";
import { describeDuration } from "../util/duration.ts";
import { oneLine } from "../util/truncate.ts";
import { changeBlock } from "./diff.ts";
import { type Html, html } from "./html.ts";
import { imageBlock } from "./image.ts";
import { clip, textBlock } from "./text-block.ts";

export function toolCall(call: ToolCall, result: ToolResultMessage | undefined): Html {
  return html`<details class="tool${result?.isError === true && " failed"}">
<summary>${mark(result)}<b>${oneLine(call.name, 60)}</b> <code>${subject(call.arguments)}</code>${outcome(result)}</summary>
<div class="inside">${call.argumentsError !== undefined && html`<p class="error">${call.argumentsError}</p>`}${callArguments(call)}${
    result && html`<h3>Result</h3>${resultBody(result)}`
  }</div>
</details>
`;
}

/** A result whose call is not known. */
export function loneResult(result: ToolResultMessage): Html {
  return html`<details class="tool${result.isError && " failed"}">
<summary>${mark(result)}<b>${oneLine(result.toolName, 60)}</b> <code>a result without its call</code>${outcome(result)}</summary>
<div class="inside">${resultBody(result)}</div>
</details>
`;
}

function mark(result: ToolResultMessage | undefined): Html {
  if (!result) return html`<span class="mark none" title="no result">–</span> `;
  if (result.isError) return html`<span class="mark bad" title="failed">✗</span> `;
  return html`<span class="mark good" title="done">✓</span> `;
}

function outcome(result: ToolResultMessage | undefined): Html {
  const time = result?.durationMs === undefined ? undefined : describeDuration(result.durationMs);
  const word = result === undefined ? "no result" : result.isError ? "failed" : undefined;
  return html`<span class="outcome">${[word, time].filter((text) => text !== undefined).join(" · ")}</span>`;
}

/** What the call is about, in one line. */
function subject(args: ToolCall["arguments"]): string {
  const named = args.command ?? args.path ?? args.file_path ?? args.pattern ?? args.url;
  if (typeof named === "string" && named !== "") return oneLine(clip(named).head, 200);
  return Object.keys(args).length === 0 ? "" : oneLine(clip(JSON.stringify(args)).head, 200);
}

function resultBody({ content }: ToolResultMessage): Html {
  if (content.length === 0) return html`<p class="cut">Nothing.</p>`;
  return html`${content.map((block) => (block.type === "image" ? imageBlock(block) : textBlock(block.text)))}`;
}

/** A command as such, changes of a file as a diff, and every other argument by its name. */
function callArguments({ name, arguments: args }: ToolCall): Html | undefined {
  const { command, edits, ...others } = args;
  if (name === "bash" && typeof command === "string") return html`${textBlock(`$ ${command}`, true)}${named(others)}`;
  const single = toChange(args);
  const several = Array.isArray(edits) ? edits.map(toChange) : [];
  const changes = [...(single ? [single] : []), ...several];
  if (changes.length === 0 || changes.includes(undefined)) return named(args);
  const rest = Object.entries(others).filter(([key]) => !single || !changeFields.has(key));
  return html`${named(Object.fromEntries(rest))}${changes.map((change) => change && changeBlock(change.before, change.after))}`;
}

interface Change {
  readonly before: string;
  readonly after: string;
}

const changeFields = new Set(["old_string", "new_string", "oldText", "newText"]);

function toChange(value: unknown): Change | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const fields = value as Readonly<Record<string, unknown>>;
  const before = fields.old_string ?? fields.oldText;
  const after = fields.new_string ?? fields.newText;
  if (typeof before !== "string" || typeof after !== "string") return undefined;
  return { before: shortened(before), after: shortened(after) };
}

function shortened(text: string): string {
  const { head, tail, omitted } = clip(text);
  return omitted === 0 ? text : `${head}\n… ${omitted} characters left out of this page …\n${tail}`;
}

function named(args: Readonly<Record<string, unknown>>): Html | undefined {
  const entries = Object.entries(args);
  if (entries.length === 0) return undefined;
  return html`<dl class="arguments">${entries.map(([key, value]) => html`<dt>${key}</dt><dd>${argument(value)}</dd>`)}</dl>`;
}

function argument(value: unknown): Html {
  const text = typeof value === "string" ? value : JSON.stringify(value, undefined, 2);
  return text.length > 200 || text.includes("\n") ? textBlock(text) : html`<code>${text}</code>`;
}
