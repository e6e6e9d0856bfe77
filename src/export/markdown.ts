// A model's Markdown as HTML of a few known tags. Whatever else is in it, HTML above all, is shown as the text it is.
import { visible } from "../util/sanitize.ts";
import { colourLines } from "./diff.ts";
import { escapeHtml, type Html, html, trusted } from "./html.ts";
import { clip, textBlock } from "./text-block.ts";

const options: Bun.markdown.Options = { noHtmlBlocks: true, noHtmlSpans: true, autolinks: { url: true } };

const plainTags = new Set("blockquote br code del em hr li ol p pre strong tbody td th thead tr u ul".split(" "));
/** Where a link may lead. */
const allowedTarget = /^(?:https?:\/\/|mailto:)/i;

export function markdown(text: string): Html {
  if (clip(text).omitted > 0) return textBlock(text);
  return html`<div class="prose">${trusted(rewrite(Bun.markdown.html(visible(text), options)))}</div>`;
}

/**
 * Puts rendered Markdown together anew from what is known to be harmless. In the renderer's output `<` and `>` stand around its own tags
 * alone; should that ever fail, what is not known here is text.
 */
function rewrite(rendered: string): string {
  const state: State = { linkEnd: "", language: "" };
  // Every second piece is a tag.
  return rendered
    .split(/(<[^<>]*>)/)
    .map((piece, index) => (index % 2 === 1 ? tag(piece, state) : content(piece, state)))
    .join("");
}

interface State {
  /** What ends the link that is open; links are never in one another. */
  linkEnd: string;
  /** Of the code block that is open. */
  language: string;
}

/** Text, escaped already but for what entities may have brought in. */
function content(text: string, { language }: State): string {
  const safe = visible(text).replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  return language === "diff" || language === "patch" ? colourLines(safe).text : safe;
}

function tag(source: string, state: State): string {
  const match = /^<(\/?)([a-z]+[1-6]?)((?: [a-z-]+(?:="[^"]*")?)*) ?\/?>$/.exec(source);
  const [, slash = "", name = "", attributes = ""] = match ?? [];
  const attribute = (wanted: string) => new RegExp(` ${wanted}="([^"]*)"`).exec(attributes)?.[1];
  if (name === "a") return slash === "" ? openLink(attribute("href") ?? "", state) : state.linkEnd;
  if (name === "img") return image(attribute("src") ?? "", attribute("alt") ?? "");
  if (name === "input") return attributes.includes(" checked") ? "☑ " : "☐ ";
  if (name === "table") return slash === "" ? '<div class="wide"><table>' : "</table></div>";
  // The page's own headings stand above those of an answer.
  if (/^h[1-6]$/.test(name)) return `<${slash}h${Math.min(6, Number(name[1]) + 2)}>`;
  if (!plainTags.has(name)) return escapeHtml(source);
  if (slash !== "") {
    if (name === "code") state.language = "";
    return `</${name}>`;
  }
  return `<${name}${keptAttributes(name, attribute, state)}>`;
}

function keptAttributes(name: string, attribute: (name: string) => string | undefined, state: State): string {
  const start = attribute("start");
  if (name === "ol" && start !== undefined && /^\d{1,9}$/.test(start)) return ` start="${start}"`;
  const align = attribute("align");
  if (align === "center" || align === "right") return ` class="${align}"`;
  if (name === "li" && attribute("class") !== undefined) return ' class="task"';
  const language = /^language-([\w+#.-]{1,20})$/.exec(attribute("class") ?? "")?.[1];
  if (name !== "code" || language === undefined) return "";
  state.language = language;
  return ` data-language="${language}"${language === "diff" || language === "patch" ? ' class="diff"' : ""}`;
}

/** `target` is escaped already. One that may not be followed stands as text behind what would have led there. */
function openLink(target: string, state: State): string {
  const isAllowed = allowedTarget.test(target);
  state.linkEnd = isAllowed ? "</a>" : `</span> <code>${target}</code>`;
  return isAllowed ? `<a href="${target}" rel="noopener noreferrer">` : '<span class="no-link">';
}

/** Images from elsewhere are never loaded. */
function image(source: string, alt: string): string {
  const label = alt === "" ? "image" : `image: ${alt}`;
  return allowedTarget.test(source)
    ? `<a href="${source}" rel="noopener noreferrer">[${label}]</a>`
    : `[${label}] <code>${source}</code>`;
}
