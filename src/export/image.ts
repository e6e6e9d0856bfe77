// An image of the conversation, carried by the page itself.
import type { ImageContent } from "../protocol/message.ts";
import { grouped } from "../util/numbers.ts";
import { type Html, html } from "./html.ts";

/** What browsers show as pixels; SVG, being a document, is not among them. */
const knownTypes = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);
const maxUnits = 20_000_000;

export function imageBlock({ data, mimeType }: ImageContent): Html {
  if (!knownTypes.has(mimeType)) return html`<p class="cut">An image of the type ${mimeType}, which is not shown.</p>`;
  if (data.length > maxUnits) return html`<p class="cut">An image of ${grouped(data.length)} characters, left out.</p>`;
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(data)) return html`<p class="cut">An image that cannot be read.</p>`;
  return html`<img class="picture" alt="An image of the conversation" src="data:${mimeType};base64,${data}">`;
}
