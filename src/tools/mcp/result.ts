// What a server answers, as the model gets it: texts, images where it takes them, and a short line for everything else. Never base64 as text.
import type { ImageContent } from "../../protocol/message.ts";
import { isObject } from "../../util/is-object.ts";
import { headOf } from "../../util/truncate.ts";
import { imageHeadBytes, imageKind, showImage } from "../image.ts";
import { type ToolContext, ToolError, type ToolOutput } from "../tool.ts";

type Json = Readonly<Record<string, unknown>>;

/** The result of `tools/call` (MCP specification, "Tool Result"), read tolerantly. */
export interface CallResult {
  readonly content?: readonly unknown[] | undefined;
  readonly structuredContent?: unknown;
  readonly isError?: boolean | undefined;
}

/** More of them in one request are refused by some providers. */
const maxImages = 16;

/** A block of content in the model's terms. */
interface Shown {
  readonly text: string;
  readonly images?: readonly ImageContent[] | undefined;
}

export async function toToolOutput(
  { content = [], structuredContent, isError }: CallResult,
  context: Pick<ToolContext, "acceptsImages" | "maxOutput">,
): Promise<ToolOutput> {
  const blocks: Shown[] = [];
  for (const block of content) blocks.push(await showBlock(block, context.acceptsImages));
  const texts = blocks.map(({ text }) => text).filter((text) => text !== "");
  if (structuredContent !== undefined && structuredContent !== null && !isSaidBy(texts, structuredContent)) {
    texts.push(JSON.stringify(structuredContent, null, 2));
  }
  const all = blocks.flatMap((block) => block.images ?? []);
  const images = all.slice(0, maxImages);
  if (all.length > images.length) texts.push(`[${all.length - images.length} more images, not shown]`);
  const text = texts.join("\n");
  const failed = isError === true;
  const nothing = images.length > 0 ? "" : failed ? "the tool failed and did not say why" : "(no output)";
  const words = text.trim() === "" ? nothing : text;
  return {
    text: failed ? `Error: ${words}` : words,
    ...(images.length > 0 ? { images } : {}),
    ...(failed ? { isError: true } : {}),
    ...(structuredContent === undefined ? {} : { structuredContent }),
  };
}

/** One block of a result, of a resource or of a prompt. */
export async function showBlock(block: unknown, acceptsImages: boolean): Promise<Shown> {
  if (!isObject(block)) return { text: "[content that is no object]" };
  switch (block.type) {
    case "text":
      return { text: textOf(block.text) };
    case "image":
      return showPicture(block, acceptsImages);
    case "audio":
      return { text: `[audio: ${label(block.mimeType)}, ${sizeOf(block.data)}, not shown]` };
    case "resource":
      return isObject(block.resource) ? showResource(block.resource, acceptsImages) : { text: "[resource]" };
    case "resource_link":
      return { text: describeLink(block) };
    default:
      return { text: `[content of the unknown kind ${label(block.type)}, not shown]` };
  }
}

/** What a resource holds: its text, its picture, or what is to be said of it. */
export async function showResource(resource: Json, acceptsImages: boolean): Promise<Shown> {
  const { uri, mimeType, text, blob } = resource;
  if (typeof text === "string") return { text: uri === undefined ? text : `[resource ${label(uri)}]\n${text}` };
  if (typeof mimeType === "string" && mimeType.startsWith("image/")) {
    const shown = await showPicture({ data: blob, mimeType }, acceptsImages);
    return { ...shown, text: `[resource ${label(uri)}]\n${shown.text}` };
  }
  return { text: `[resource ${label(uri)}: ${label(mimeType ?? "of an unknown type")}, ${sizeOf(blob)}, not shown]` };
}

/** A resource that is only named: where it is and what is known of it, on one line. */
export function describeLink({ uri, name, title, description, mimeType, size }: Json): string {
  const facts = [title ?? name, description, mimeType, typeof size === "number" ? `${size} bytes` : undefined].filter(
    (fact) => typeof fact === "string" && fact.trim() !== "" && fact !== uri,
  );
  return `[resource ${label(uri)}${facts.length > 0 ? `: ${facts.map((fact) => oneLine(fact)).join(", ")}` : ""}]`;
}

async function showPicture({ data, mimeType }: Json, acceptsImages: boolean): Promise<Shown> {
  const what = label(mimeType ?? "image");
  const bytes = typeof data === "string" ? Buffer.from(data, "base64") : Buffer.alloc(0);
  const kind = imageKind(bytes.subarray(0, imageHeadBytes));
  if (!kind) return { text: `[image: ${what}, ${bytes.length} bytes, of a kind that cannot be shown]` };
  try {
    const { text, images } = await showImage(`image (${what})`, bytes, kind, acceptsImages);
    return { text: `[${text}]`, images };
  } catch (error) {
    if (error instanceof ToolError) return { text: `[${error.message}]` };
    throw error;
  }
}

/**
 * Whether the texts are the structured content already, which servers see to for clients that know no other (MCP specification, "Structured
 * Content"): as its JSON, or, where it is only the wrapping of one result, as that or the parts of it.
 */
function isSaidBy(texts: readonly string[], content: unknown): boolean {
  const values = texts.map(parseJson);
  const isSaid = (value: unknown) =>
    texts.includes(String(value)) || values.some((said) => Bun.deepEquals(said, value));
  if (isSaid(content)) return true;
  const [result, ...others] = isObject(content) ? Object.values(content) : [];
  if (result === undefined || others.length > 0) return false;
  return isSaid(result) || (Array.isArray(result) && result.length > 0 && result.every(isSaid));
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function sizeOf(base64: unknown): string {
  return `${typeof base64 === "string" ? Math.floor((base64.replace(/=+$/, "").length * 3) / 4) : 0} bytes`;
}

const longestLabel = 200;

/** A value of the server's for a line of ours. */
function label(value: unknown): string {
  return typeof value === "string" ? oneLine(value) : "?";
}

function oneLine(value: unknown): string {
  return headOf(String(value).replace(/\s+/g, " ").trim(), longestLabel);
}
