// The branches of a session beside the one that a page shows.
import type { Entry } from "../protocol/entry.ts";
import { pathTo } from "../protocol/tree.ts";
import { oneLine } from "../util/truncate.ts";
import { type Item, textOf, toItem } from "./conversation.ts";
import { type Html, html } from "./html.ts";
import { counted, moment } from "./numbers.ts";

export interface Branch {
  /** The last entry it shares with the branch that is shown; undefined when it began anew. */
  readonly forkId: string | undefined;
  readonly items: readonly Item[];
}

export interface Branches {
  /** The latest first. */
  readonly shown: readonly Branch[];
  readonly omitted: number;
}

const maxBranches = 50;
const maxLines = 200;

/** Pure. Only what holds a message counts as a branch. */
export function otherBranches(entries: readonly Entry[], shown: readonly Item[]): Branches {
  const onPath = new Set(shown.map(({ id }) => id));
  const parents = new Set(entries.map(({ parentId }) => parentId));
  const leaves = entries.filter(({ id }) => !parents.has(id) && !onPath.has(id)).reverse();
  const branches = leaves.slice(0, maxBranches).flatMap((leaf): Branch[] => {
    const path = pathTo(entries, leaf.id);
    const own = path.filter(({ id }) => !onPath.has(id));
    if (!own.some(({ type }) => type === "message")) return [];
    return [{ forkId: path.findLast(({ id }) => onPath.has(id))?.id, items: own.map(toItem) }];
  });
  return { shown: branches, omitted: Math.max(0, leaves.length - maxBranches) };
}

/** `anchors` leads from entries to their places in the page. */
export function branchList({ shown, omitted }: Branches, anchors: ReadonlyMap<string, string>): Html | undefined {
  if (shown.length === 0) return undefined;
  return html`<section class="branches" id="branches">
<h2>Other branches</h2>
<p class="cut">This page shows one branch of the session. What was said on the others, in short:</p>
${shown.map((branch) => branchBlock(branch, anchors))}${omitted > 0 && html`<p class="cut">${counted(omitted, "older branch")} are left out.</p>`}
</section>
`;
}

function branchBlock({ forkId, items }: Branch, anchors: ReadonlyMap<string, string>): Html {
  const lines = items.flatMap(lineOf);
  const title = lines.find(({ who }) => who === "You")?.text ?? lines[0]?.text ?? "";
  const fork = forkId === undefined ? undefined : anchors.get(forkId);
  const end = items.findLast(({ entry }) => entry !== undefined)?.entry;
  const time = end && moment(end.timestamp);
  return html`<details>
<summary><span class="name">${title === "" ? "(no text)" : title}</span><span class="outcome">${counted(lines.length, "message")}${time !== undefined && ` · ${time}`}</span></summary>
<div class="inside">${fork !== undefined && html`<p><a href="#${fork}">Where it leaves this branch</a></p>`}
<ol>${lines.slice(0, maxLines).map(({ who, text }) => html`<li><b>${who}</b> ${text}</li>`)}</ol>${
    lines.length > maxLines && html`<p class="cut">${counted(lines.length - maxLines, "more message")}.</p>`
  }</div>
</details>
`;
}

function lineOf({ entry }: Item): { who: string; text: string }[] {
  if (entry?.type !== "message") return [];
  const { message } = entry;
  if (message.role === "user") return [{ who: "You", text: oneLine(textOf(message.content), 300) }];
  if (message.role !== "assistant") return [];
  const tools = message.content.flatMap((block) => (block.type === "toolCall" ? [block.name] : []));
  const called = tools.length === 0 ? "" : ` [${tools.join(", ")}]`;
  return [{ who: "Assistant", text: `${oneLine(textOf(message.content), 300)}${oneLine(called, 100)}` }];
}
