// One entry of the conversation as a block of the page.
import type { Entry } from "../protocol/entry.ts";
import type {
  AssistantMessage,
  ImageContent,
  Message,
  SystemMessage,
  TextContent,
  Usage,
} from "../protocol/message.ts";
import { describeDuration } from "../util/duration.ts";
import { dollars, grouped } from "../util/numbers.ts";
import { oneLine } from "../util/truncate.ts";
import { type Conversation, type Item, textOf } from "./conversation.ts";
import { type Html, html } from "./html.ts";
import { imageBlock } from "./image.ts";
import { markdown } from "./markdown.ts";
import { compact, counted, moment } from "./numbers.ts";
import { textBlock } from "./text-block.ts";
import { loneResult, toolCall } from "./tool-call.ts";

/** Nothing for what a reader need not see. `anchor` is the block's own place in the page. */
export function entryBlock(item: Item, conversation: Conversation, anchor: string): Html | undefined {
  const { entry } = item;
  if (!entry)
    return folded(
      anchor,
      "An entry that this version does not know",
      textBlock(JSON.stringify(item.raw, undefined, 2)),
    );
  switch (entry.type) {
    case "message":
      return conversation.paired.has(entry.id)
        ? undefined
        : messageBlock(entry.message, entry.id, conversation, anchor);
    case "compaction":
      return summaryBlock(anchor, `Compaction, from ${grouped(entry.tokensBefore)} tokens`, entry);
    case "branch_summary":
      return summaryBlock(anchor, "Summary of a branch that was left", entry);
    case "custom_message": {
      const { customType, content, display } = entry;
      return customBlock(anchor, { customType, content, display });
    }
    default: {
      const note = noteOf(entry);
      return note === undefined
        ? undefined
        : html`<p class="note" id="${anchor}">${oneLine(note, 300)}</p>
`;
    }
  }
}

function noteOf(entry: Entry): string | undefined {
  switch (entry.type) {
    case "model_change":
      return `Model: ${entry.provider}/${entry.modelId}`;
    case "thinking_level_change":
      return `Thinking: ${entry.thinkingLevel}`;
    case "usage":
      return `${entry.kind}: ${usageText(entry.usage)}`;
    default:
      return undefined;
  }
}

function messageBlock(message: Message, id: string, conversation: Conversation, anchor: string): Html | undefined {
  const marks = marksOf(id, conversation);
  switch (message.role) {
    case "system":
      return systemBlock(message, anchor);
    case "user":
      return article({
        kind: "user",
        who: "You",
        anchor,
        time: message.timestamp,
        marks,
        body: asTyped(message.content),
      });
    case "assistant":
      return assistantBlock(message, id, conversation, anchor);
    case "toolResult":
      return html`<div class="message" id="${anchor}">${loneResult(message)}</div>`;
    case "bashExecution": {
      const { command, output, exitCode, cancelled, excludeFromContext, timestamp } = message;
      const end = cancelled ? "cancelled" : exitCode === undefined ? undefined : `exit code ${exitCode}`;
      const notes = [end, excludeFromContext === true ? "not shown to the model" : undefined];
      const who = ["You ran a command", ...notes.filter((note) => note !== undefined)].join(" · ");
      const body = html`${textBlock(`$ ${command}`, true)}${output !== "" && textBlock(output)}`;
      return article({ kind: "user", who, anchor, time: timestamp, marks, body });
    }
    case "custom":
      return customBlock(anchor, message);
    case "branchSummary":
      return summaryBlock(anchor, "Summary of a branch that was left", message);
    case "compactionSummary":
      return summaryBlock(anchor, `Compaction, from ${grouped(message.tokensBefore)} tokens`, message);
  }
}

interface Article {
  readonly kind: string;
  readonly who: string;
  readonly anchor: string;
  readonly time: number;
  readonly marks: Html | undefined;
  readonly body: Html;
}

function article({ kind, who, anchor, time, marks, body }: Article): Html {
  return html`<article class="message ${kind}" id="${anchor}">
<header><h2>${oneLine(who, 120)}</h2>${marks}<a class="time" href="#${anchor}">${moment(time) ?? "no time"}</a></header>
${body}
</article>
`;
}

function marksOf(id: string, { edited, labels }: Conversation): Html | undefined {
  const label = labels.get(id);
  const edit = edited.get(id);
  if (label === undefined && edit === undefined) return undefined;
  return html`${label !== undefined && html`<span class="badge">${oneLine(label, 120)}</span>`}${
    edit !== undefined &&
    html`<span class="badge quiet">${edit === "removed" ? "taken out of the context" : "changed in the context"}</span>`
  }`;
}

/** What people type is shown as they typed it. */
function asTyped(content: string | readonly (TextContent | ImageContent)[]): Html {
  if (typeof content === "string") return typed(content);
  return html`${content.map((block) => (block.type === "image" ? imageBlock(block) : typed(block.text)))}`;
}

function typed(text: string): Html {
  return text.length > 20_000 ? textBlock(text) : html`<div class="typed">${text}</div>`;
}

function assistantBlock(message: AssistantMessage, id: string, conversation: Conversation, anchor: string): Html {
  const results = conversation.results.get(id);
  const blocks = message.content.map((block) => {
    if (block.type === "text") return block.text.trim() === "" ? undefined : markdown(block.text);
    if (block.type === "toolCall") return toolCall(block, results?.get(block.id));
    return thinking(block.thinking, block.redacted === true);
  });
  const body = html`${blocks}${ending(message)}<footer>${answerFacts(message)}</footer>`;
  const who = `${message.provider}/${message.model}`;
  const kind = conversation.continued.has(id) ? "assistant continued" : "assistant";
  return article({ kind, who, anchor, time: message.timestamp, marks: marksOf(id, conversation), body });
}

function thinking(text: string, redacted: boolean): Html | undefined {
  if (text.trim() === "")
    return redacted ? html`<p class="cut">Thinking that the provider keeps to itself.</p>` : undefined;
  return html`<details class="thinking">
<summary>Thinking <span class="outcome">${counted(text.length, "character")}</span></summary>
<div class="inside">${markdown(text)}</div>
</details>
`;
}

/** How an answer ended, where that is not well. */
function ending({ stopReason, errorMessage }: AssistantMessage): Html | undefined {
  if (stopReason === "length") return html`<p class="warning">Cut off at the output limit.</p>`;
  if (stopReason === "aborted") return html`<p class="warning">Interrupted.</p>`;
  if (stopReason !== "error" && errorMessage === undefined) return undefined;
  return html`<p class="error"><b>Error</b> ${errorMessage ?? "The request failed."}</p>`;
}

function answerFacts({ usage, durationMs }: AssistantMessage): string {
  return [usageText(usage), durationMs === undefined ? "" : describeDuration(durationMs)]
    .filter((text) => text !== "")
    .join(" · ");
}

function usageText({ input, cacheRead, cacheWrite, output, cost }: Usage): string {
  const sent = input + cacheRead + cacheWrite;
  if (sent + output === 0) return "";
  const cached = cacheRead > 0 ? ` (${compact(cacheRead)} cached)` : "";
  return [`${compact(sent)} in${cached}`, `${compact(output)} out`, dollars(cost.total) ?? ""]
    .filter((text) => text !== "")
    .join(" · ");
}

function systemBlock({ content, sections, toolsAdded, toolsRemoved }: SystemMessage, anchor: string): Html {
  const parts = Object.entries(sections ?? {});
  const own = textOf(content);
  const tools = toolsAdded ?? [];
  const removed = toolsRemoved ?? [];
  return folded(
    anchor,
    "System prompt",
    html`${own !== "" && textBlock(own)}${parts.map(([name, text]) => html`<h3>${name}</h3>${text === null ? html`<p class="cut">Taken away.</p>` : textBlock(text)}`)}${
      tools.length > 0 &&
      html`<h3>Tools</h3><dl class="arguments">${tools.map((tool) => html`<dt>${tool.name}</dt><dd class="typed">${tool.description}</dd>`)}</dl>`
    }${removed.length > 0 && html`<p class="cut">Tools taken away: ${removed.map(({ name }) => name).join(", ")}</p>`}`,
  );
}

interface Custom {
  readonly customType: string;
  readonly content: string | readonly (TextContent | ImageContent)[];
  readonly display: boolean;
}

function customBlock(anchor: string, { customType, content, display }: Custom): Html {
  const body = asTyped(content);
  if (!display) return folded(anchor, `Hidden message: ${oneLine(customType, 120)}`, body);
  return html`<section class="summary" id="${anchor}"><h2>${oneLine(customType, 120)}</h2>${body}</section>
`;
}

function summaryBlock(anchor: string, title: string, { summary, usage }: { summary: string; usage?: unknown }): Html {
  const used = usage === undefined ? "" : usageText(usage as Usage);
  return html`<section class="summary" id="${anchor}"><h2>${title}</h2>${markdown(summary)}${used !== "" && html`<footer>${used}</footer>`}</section>
`;
}

function folded(anchor: string, title: string, body: Html): Html {
  return html`<details class="aside" id="${anchor}">
<summary>${title}</summary>
<div class="inside">${body}</div>
</details>
`;
}
