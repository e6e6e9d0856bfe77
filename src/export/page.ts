// A session as one HTML page that needs nothing else: no network, no script.
import type { Entry } from "../protocol/entry.ts";
import { nameIn } from "../protocol/tree.ts";
import { dollars, grouped } from "../util/numbers.ts";
import { headOf, oneLine } from "../util/truncate.ts";
import { branchList, otherBranches } from "./branches.ts";
import { contextChart } from "./chart.ts";
import { type Conversation, textOf, toConversation, totalsOf } from "./conversation.ts";
import { entryBlock } from "./entry-block.ts";
import { type Html, html, trusted } from "./html.ts";
import { counted, moment } from "./numbers.ts";
import style from "./style.css" with { type: "text" };

export interface PageSource {
  readonly id: string;
  /** The working directory it began in. */
  readonly cwd: string;
  /** Every entry, also of other branches. */
  readonly entries: readonly Entry[];
  /** The end of the branch to show. */
  readonly leafId: string | null;
  /** How many lines of the file could not be read. */
  readonly badLines?: number;
}

/** Every page begins with this. */
export const pageMark = '<!doctype html>\n<html lang="en" data-made-by="pi-ts">';

const policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'";

/** The page in pieces, in order. */
export function* renderPage(source: PageSource): Generator<string> {
  const { entries, leafId } = source;
  const conversation = toConversation(entries, leafId);
  const anchors = new Map(conversation.items.map(({ id }, index) => [id, `e${index + 1}`]));
  const branches = otherBranches(entries, conversation.items);
  const title = titleOf(source, conversation);
  yield `${pageMark}
${head(title).text}<body>
<main>
`;
  yield html`${pageHeader(source, title, conversation, branches.shown.length)}${contextChart(conversation, anchors)}${prompts(conversation, anchors)}`
    .text;
  const forks = new Set(branches.shown.map(({ forkId }) => forkId));
  const begin = firstMessage(conversation);
  for (const [index, item] of conversation.items.entries()) {
    const anchor = `e${index + 1}`;
    // The settings that a session begins with stand in the header.
    const block = index < begin && item.entry !== undefined ? undefined : entryBlock(item, conversation, anchor);
    yield block?.text ?? `<span id="${anchor}"></span>`;
    if (forks.has(item.id)) yield '<p class="note"><a href="#branches">Another branch goes on from here</a></p>\n';
  }
  if (begin === conversation.items.length) yield '<p class="cut">There is no message in this session.</p>\n';
  yield branchList(branches, anchors)?.text ?? "";
  yield "</main>\n</body>\n</html>\n";
}

function firstMessage({ items }: Conversation): number {
  const index = items.findIndex(({ entry }) => entry?.type === "message");
  return index === -1 ? items.length : index;
}

function head(title: string): Html {
  return html`<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${trusted(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<meta name="robots" content="noindex">
<title>${title}</title>
<link rel="icon" href="data:,">
<style>
${trusted(style)}</style>
</head>
`;
}

/** Its name, or else what was asked first. */
function titleOf({ id, entries }: PageSource, { items }: Conversation): string {
  const name = nameIn(entries);
  if (name !== undefined) return oneLine(name, 200);
  const [first] = promptsOf(items);
  return first === undefined || first.text === "" ? `Session ${oneLine(id, 100)}` : first.heading;
}

interface Prompt {
  readonly id: string;
  readonly text: string;
  /** Its first line alone. */
  readonly heading: string;
}

function promptsOf(items: Conversation["items"]): Prompt[] {
  return items.flatMap(({ id, entry }) => {
    if (entry?.type !== "message" || entry.message.role !== "user") return [];
    const text = headOf(textOf(entry.message.content).trim(), 2000);
    return [{ id, text: oneLine(text, 160), heading: oneLine(/.*/.exec(text)?.[0] ?? "", 100) }];
  });
}

function pageHeader(source: PageSource, title: string, conversation: Conversation, branchCount: number): Html {
  const { id, cwd, entries, badLines = 0 } = source;
  const { input, cached, output, cost } = totalsOf(entries);
  const count = conversation.items.filter(
    ({ entry }) => entry?.type === "message" && isSpoken(entry.message.role),
  ).length;
  const tokens = `${grouped(input)} in${cached > 0 ? ` (${grouped(cached)} cached)` : ""}, ${grouped(output)} out`;
  const price = dollars(cost);
  const facts: readonly (readonly [string, string | undefined])[] = [
    ["Session", id],
    ["Folder", cwd === "" ? undefined : cwd],
    ["Model", modelsOf(conversation).join(", ") || undefined],
    ["Time", timeSpan(conversation)],
    ["Messages", grouped(count)],
    ["Tokens", input + output > 0 ? tokens : undefined],
    ["Cost", price],
  ];
  return html`<header class="page">
<h1>${title}</h1>
<dl>${facts.map(([name, value]) => value !== undefined && html`<div><dt>${name}</dt><dd>${oneLine(value, 300)}</dd></div>`)}</dl>
${
  branchCount > 0 &&
  html`<p class="cut">One branch of the session; ${counted(branchCount, "other").replace(/^1 other$/, "one other")} <a href="#branches">in short at the end</a>. Tokens and cost are those of all.</p>
`
}${
  badLines > 0 &&
  html`<p class="warning">${counted(badLines, "line")} of the session's file could not be read.</p>
`
}</header>
`;
}

function isSpoken(role: string): boolean {
  return role === "user" || role === "assistant" || role === "custom" || role === "bashExecution";
}

/** In the order of their first answers; the one that was set where none has answered. */
function modelsOf({ items }: Conversation): string[] {
  const answered = new Set<string>();
  let chosen: string | undefined;
  for (const { entry } of items) {
    if (entry?.type === "model_change") chosen = `${entry.provider}/${entry.modelId}`;
    if (entry?.type !== "message" || entry.message.role !== "assistant") continue;
    answered.add(oneLine(`${entry.message.provider}/${entry.message.model}`, 100));
  }
  return answered.size > 0 ? [...answered] : chosen === undefined ? [] : [chosen];
}

function timeSpan({ items }: Conversation): string | undefined {
  const times = items.flatMap(({ entry }) => (entry ? (moment(entry.timestamp) ?? []) : []));
  const [first, last] = [times[0], times.at(-1)];
  if (first === undefined || last === undefined) return undefined;
  if (first === last) return `${first} UTC`;
  return first.slice(0, 10) === last.slice(0, 10) ? `${first} – ${last.slice(11)} UTC` : `${first} – ${last} UTC`;
}

/** A list to jump from, where there is something to jump over. */
function prompts({ items }: Conversation, anchors: ReadonlyMap<string, string>): Html | undefined {
  const list = promptsOf(items);
  if (list.length < 3) return undefined;
  return html`<details class="aside">
<summary>${counted(list.length, "prompt")}</summary>
<div class="inside"><ol>${list.map(({ id, text }) => html`<li><a href="#${anchors.get(id)}">${text === "" ? "(no text)" : text}</a></li>`)}</ol></div>
</details>
`;
}
