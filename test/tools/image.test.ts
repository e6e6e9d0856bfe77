// `read` on image files.
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { imageKind } from "../../src/tools/image.ts";
import { read } from "../../src/tools/read.ts";
import { callTool } from "../helpers/call-tool.ts";
import { makePng } from "../helpers/png.ts";
import { tmp } from "../helpers/tmp.ts";

const png = makePng(30, 20);
const jpeg = await new Bun.Image(png).jpeg().bytes();
const webp = await new Bun.Image(png).webp().bytes();
const gif = Buffer.from("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7", "base64");

/** What `read` gives for these bytes, in a file whose name says nothing. */
async function readBytes(bytes: Uint8Array, acceptsImages = true) {
  await using dir = tmp();
  await Bun.write(dir.file("f.txt"), bytes);
  return await callTool(read, dir.path, { path: "f.txt" }, { acceptsImages });
}

describe("an image file", () => {
  test.each([
    ["PNG", png, "image/png", "30x20"],
    ["JPEG", jpeg, "image/jpeg", "30x20"],
    ["WebP", webp, "image/webp", "30x20"],
  ])("of type %s is given as it is, with a line that says what it is", async (kind, bytes, mimeType, size) => {
    expect(await readBytes(bytes)).toEqual({
      text: `f.txt: ${kind} image, ${size}, ${bytes.length} bytes`,
      images: [{ type: "image", mimeType, data: Buffer.from(bytes).toString("base64") }],
    });
  });

  test("of type GIF is given as its first frame, which everybody takes", async () => {
    const { text, images } = await readBytes(gif);
    expect(text).toBe(`f.txt: GIF image, 1x1, ${gif.length} bytes; its first frame`);
    expect(images?.[0]?.mimeType).toBe("image/png");
    expect(await new Bun.Image(Buffer.from(images?.[0]?.data ?? "", "base64")).metadata()).toMatchObject({ width: 1 });
  });

  test.each([
    ["PNG", png, "30x20"],
    ["GIF", gif, "1x1"],
  ])("of type %s is described to a model that takes none", async (kind, bytes, size) => {
    expect(await readBytes(bytes, false)).toEqual({
      text: `f.txt is a ${kind} image, ${size}, ${bytes.length} bytes; this model takes no images`,
    });
  });

  test("that is larger than providers take is scaled down, its proportions kept", async () => {
    const { text, images } = await readBytes(makePng(4000, 1000));
    expect(text).toMatch(/^f\.txt: PNG image, 4000x1000, \d+ bytes; shown at 2000x500$/);
    const shown = Buffer.from(images?.[0]?.data ?? "", "base64");
    expect(await new Bun.Image(shown).metadata()).toEqual({ width: 2000, height: 500, format: "png" });
  });

  test("that has too many bytes is encoded anew, in fewer", async () => {
    const pixels = new Uint8Array(2001 * 2000);
    for (let at = 0; at < pixels.length; at += 65536) crypto.getRandomValues(pixels.subarray(at, at + 65536));
    for (let row = 0; row < 2000; row++) pixels[row * 2001] = 0;
    const { text, images } = await readBytes(makePng(2000, 2000, pixels));
    expect(text).toMatch(/^f\.txt: PNG image, 2000x2000, \d+ bytes/);
    expect(images?.[0]?.mimeType).toBe("image/jpeg");
    expect(images?.[0]?.data.length).toBeLessThanOrEqual(4_500_000);
  });

  test("may be asked for a window, and is shown whole", async () => {
    await using dir = tmp();
    await Bun.write(dir.file("f"), png);
    const { images } = await callTool(read, dir.path, { path: "f", offset: 5, limit: 1 });
    expect(images).toHaveLength(1);
  });
});

const damagedFiles: [string, string, Uint8Array][] = [
  ["a PNG cut off", "PNG", png.subarray(0, png.length - 20)],
  ["a PNG of which only the signature is there", "PNG", png.subarray(0, 8)],
  ["a JPEG cut off", "JPEG", jpeg.subarray(0, jpeg.length - 20)],
  ["a JPEG cut off in its header", "JPEG", jpeg.subarray(0, 30)],
  ["a WebP cut off", "WebP", webp.subarray(0, webp.length - 20)],
  ["a GIF cut off", "GIF", gif.subarray(0, gif.length - 5)],
  ["a PNG with other bytes in its middle", "PNG", png.with(60, 0xff).with(45, 0xff)],
];
test.each(damagedFiles)("%s is one clear line, never sent", async (_, kind, bytes) => {
  const { text, images, isError } = await readBytes(bytes);
  expect([isError, images]).toEqual([true, undefined]);
  expect(text).toStartWith(`Error: f.txt is a ${kind} image (${bytes.length} bytes)`);
});

test.each(["GIF89a is a format of images\n", "RIFF----WEBP is one too\n", "GIF87a"])(
  "the text %j, which begins as an image does, is read as text",
  async (text) => {
    const result = await readBytes(Buffer.from(text));
    expect(result.text).toBe(`     1\t${text.trimEnd()}`);
    expect(result.images).toBeUndefined();
  },
);

test("an image that says it is huge is refused without being decoded", async () => {
  const started = performance.now();
  const bomb = makePng(100_000, 100_000, new Uint8Array(10));
  for (const acceptsImages of [true, false]) {
    expect((await readBytes(bomb, acceptsImages)).text).toBe(
      `Error: f.txt is a PNG image (${bomb.length} bytes) of more than 50 megapixels, which is too large to show`,
    );
  }
  expect(performance.now() - started).toBeLessThan(1000);
});

test("a whole JPEG with more behind it is shown, one with only its thumbnail whole is not", async () => {
  const exif = Buffer.concat([Buffer.of(0xff, 0xe1, 0, 4 + 2), Buffer.of(0xff, 0xd8, 0xff, 0xd9)]);
  const withThumbnail = Buffer.concat([jpeg.subarray(0, 2), exif, jpeg.subarray(2)]);
  expect((await readBytes(Buffer.concat([withThumbnail, Buffer.from("trailer")]))).images).toHaveLength(1);
  expect((await readBytes(withThumbnail.subarray(0, -20))).isError).toBe(true);
});

test.each([
  ["PNG", "\x89PNG\r\n\x1a\n...."],
  ["JPEG", "\xff\xd8\xff\xe0........"],
  ["GIF", "GIF87a......"],
  ["GIF", "GIF89a......"],
  ["WebP", "RIFF....WEBP"],
  [undefined, "RIFF....WAVE"],
  [undefined, "%PDF-1.7...."],
  [undefined, "\x89PNG"],
  [undefined, ""],
] as const)("%s is known by its first bytes: %p", (kind, head) => {
  expect(imageKind(Buffer.from(head, "latin1"))).toBe(kind as ReturnType<typeof imageKind>);
});

test("a name alone makes no image", async () => {
  await using dir = tmp();
  await Bun.write(dir.file("f.png"), "text\n");
  expect(await callTool(read, dir.path, { path: "f.png" })).toEqual({ text: "     1\ttext" });
  expect(readFileSync(dir.file("f.png"), "utf8")).toBe("text\n");
});
