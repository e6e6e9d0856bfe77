// Image files for models that see: known by their first bytes, checked by decoding, scaled down to what providers take.
import type { ImageContent } from "../protocol/message.ts";
import { type ToolOutput, toolError } from "./tool.ts";

export type ImageKind = "PNG" | "JPEG" | "GIF" | "WebP";

/** As much of the beginning of a file as tells what it is. */
export const imageHeadBytes = 12;

/** The longest side: providers scale a larger image down themselves, or refuse it among many. */
const maxSide = 2000;
/** Anthropic takes 5 MB of base64, the least of all; what is sent is a little less. */
const maxBase64 = 4_500_000;
const maxBytes = Math.floor(maxBase64 / 4) * 3;
/** More is not decoded: a small file may say that it is huge. 50 megapixels are 200 MB in memory. */
const maxPixels = 50_000_000;

const mimeTypes = { PNG: "image/png", JPEG: "image/jpeg", GIF: "image/gif", WebP: "image/webp" } as const;

/** Which image it is, by the first `imageHeadBytes` of a file. */
export function imageKind(head: Uint8Array): ImageKind | undefined {
  const text = Buffer.from(head).toString("latin1");
  if (text.startsWith("\x89PNG\r\n\x1a\n")) return "PNG";
  if (text.startsWith("\xff\xd8\xff")) return "JPEG";
  if (text.startsWith("GIF87a") || text.startsWith("GIF89a")) return "GIF";
  if (text.startsWith("RIFF") && text.slice(8, 12) === "WEBP") return "WebP";
  return undefined;
}

/** The image in a result, with a line that says what it is; the line alone for a model that takes none. Throws `ToolError` for a damaged one. */
export async function showImage(
  path: string,
  bytes: Uint8Array,
  kind: ImageKind,
  acceptsImages: boolean,
): Promise<ToolOutput> {
  const refuse = (error: unknown) => cannotDecode(path, bytes, kind, error);
  const { width, height } = await new Bun.Image(bytes, { maxPixels }).metadata().catch(refuse);
  const what = `${kind} image, ${width}x${height}, ${bytes.length} bytes`;
  if (!acceptsImages) return { text: `${path} is a ${what}; this model takes no images` };
  if (kind === "JPEG" && !isWholeJpeg(bytes)) throw damaged(path, bytes, kind);
  const image = await toSendable(bytes, kind, Math.max(width, height)).catch(refuse);
  const scaled = image.width === width && image.height === height ? "" : `; shown at ${image.width}x${image.height}`;
  const frame = kind === "GIF" ? "; its first frame" : "";
  return { text: `${path}: ${what}${frame}${scaled}`, images: [toContent(image)] };
}

interface Sendable {
  readonly bytes: Uint8Array;
  readonly mimeType: string;
  readonly width: number;
  readonly height: number;
}

/** The image as every provider takes it; throws when it does not decode, since a request with a damaged image is refused for good. */
async function toSendable(bytes: Uint8Array, kind: ImageKind, side: number): Promise<Sendable> {
  // A GIF may be a film, and not everybody takes it.
  if (kind !== "GIF" && side <= maxSide && bytes.length <= maxBytes) {
    await scale(bytes, 8).png().bytes();
    return await measure(bytes, mimeTypes[kind]);
  }
  for (let longest = maxSide; ; longest = Math.floor(longest * 0.7)) {
    if (kind !== "JPEG") {
      const png = await scale(bytes, longest).png().bytes();
      if (png.length <= maxBytes) return await measure(png, mimeTypes.PNG);
    }
    const jpeg = await scale(bytes, longest).jpeg({ quality: 80 }).bytes();
    if (jpeg.length <= maxBytes) return await measure(jpeg, mimeTypes.JPEG);
  }
}

function scale(bytes: Uint8Array, side: number): Bun.Image {
  return new Bun.Image(bytes, { maxPixels }).resize(side, side, { fit: "inside", withoutEnlargement: true });
}

async function measure(bytes: Uint8Array, mimeType: string): Promise<Sendable> {
  const { width, height } = await new Bun.Image(bytes).metadata();
  return { bytes, mimeType, width, height };
}

function toContent({ bytes, mimeType }: Sendable): ImageContent {
  return { type: "image", data: Buffer.from(bytes).toString("base64"), mimeType };
}

/**
 * Whether the end marker follows the image's data: the decoder is content with less, and fills up with grey.
 * In the data 0xFF is always escaped, so that FF D9 there is the marker; before it there may be one of a thumbnail's, in a segment.
 */
function isWholeJpeg(bytes: Uint8Array): boolean {
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 2;
  while (at + 4 <= data.length && data[at] === 0xff && data[at + 1] !== 0xda) at += 2 + data.readUInt16BE(at + 2);
  return data.indexOf(Buffer.of(0xff, 0xd9), at) >= 0;
}

function cannotDecode(path: string, bytes: Uint8Array, kind: ImageKind, error: unknown): never {
  if ((error as { code?: string }).code === "ERR_IMAGE_TOO_MANY_PIXELS") {
    throw toolError(
      `${path} is a ${kind} image (${bytes.length} bytes) of more than ${maxPixels / 1e6} megapixels, which is too large to show`,
    );
  }
  throw damaged(path, bytes, kind);
}

function damaged(path: string, bytes: Uint8Array, kind: ImageKind) {
  return toolError(
    `${path} is a ${kind} image (${bytes.length} bytes) that cannot be decoded: it is damaged or cut off`,
  );
}
