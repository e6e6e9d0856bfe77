// `@file` arguments: files that go along with the task, texts word for word and images as images.
import { existsSync, statSync } from "node:fs";
import type { ImageContent } from "../protocol/message.ts";
import { AppError } from "../util/error.ts";
import { resolvePath } from "../util/paths.ts";

export interface SplitWords {
  /** The words that are no files. */
  readonly words: readonly string[];
  /** Paths as they were given. */
  readonly paths: readonly string[];
}

export interface AttachedFiles {
  /** "" without texts. */
  readonly text: string;
  readonly images: readonly ImageContent[];
}

/** A larger text is not sent whole; images are scaled down to what providers take. */
const maxTextBytes = 1024 * 1024;
const maxImageBytes = 50 * 1024 * 1024;

/** `literal` words at the end, those behind `--`, are never files; nor is a text with blanks that begins with `@`, unless there is such a file. */
export function splitFileArgs(words: readonly string[], literal: number, cwd: string): SplitWords {
  const isFile = (word: string, position: number) =>
    word.length > 1 &&
    word.startsWith("@") &&
    position < words.length - literal &&
    (!/\s/.test(word) || existsSync(resolvePath(cwd, word.slice(1))));
  return {
    words: words.filter((word, position) => !isFile(word, position)),
    paths: words.filter(isFile).map((word) => word.slice(1)),
  };
}

/** Throws `AppError` `usage` for a file that is not there, is no regular file, is too large or is neither text nor an image. */
export async function readFileArgs(
  paths: readonly string[],
  { cwd, acceptsImages, model }: { readonly cwd: string; readonly acceptsImages: boolean; readonly model: string },
): Promise<AttachedFiles> {
  if (paths.length === 0) return { text: "", images: [] };
  const [{ readRegularFile, decodeUtf8 }, { imageHeadBytes, imageKind, showImage }, { ToolError }] = await Promise.all([
    import("../tools/regular-file.ts"),
    import("../tools/image.ts"),
    import("../tools/tool.ts"),
  ]);
  const texts: string[] = [];
  const images: ImageContent[] = [];

  async function read(path: string): Promise<void> {
    const absolute = resolvePath(cwd, path);
    if (!existsSync(absolute)) {
      throw new AppError("usage", `@${path}: there is no such file`, {
        hint: "A task that begins with @ goes behind `--`.",
      });
    }
    const { size } = statSync(absolute);
    if (size > maxImageBytes) throw tooLarge(path, size);
    const bytes = await readRegularFile({ cwd }, path);
    const kind = imageKind(bytes.subarray(0, imageHeadBytes));
    if (kind !== undefined && bytes.includes(0)) {
      if (!acceptsImages) throw new AppError("usage", `@${path} is an image, and ${model} takes none`);
      const shown = await showImage(path, bytes, kind, true);
      texts.push(`[${shown.text}]`);
      images.push(...(shown.images ?? []));
      return;
    }
    if (bytes.length > maxTextBytes) throw tooLarge(path, bytes.length);
    if (bytes.includes(0)) throw new AppError("usage", `@${path} is binary: neither text nor PNG, JPEG, GIF or WebP`);
    const text = decodeUtf8(bytes, path).replace(/^\ufeff/, "");
    texts.push(`<file path="${path}">\n${text}${text === "" || text.endsWith("\n") ? "" : "\n"}</file>`);
  }

  for (const path of paths) {
    try {
      await read(path);
    } catch (error) {
      if (!(error instanceof ToolError)) throw error;
      // The tools' words begin with the path.
      const why = error.message.startsWith(`${path} `) ? error.message.slice(path.length) : `: ${error.message}`;
      throw new AppError("usage", `@${path}${why}`);
    }
  }
  return { text: texts.join("\n\n"), images };
}

function tooLarge(path: string, bytes: number): AppError {
  return new AppError(
    "usage",
    `@${path} is too large to send whole: ${bytes} bytes, of which ${maxTextBytes} are possible`,
    {
      hint: "Name the file in the task: the model reads what it needs of it.",
    },
  );
}
