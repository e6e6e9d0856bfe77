// Markdown files with a head of `key: value` lines between two lines of `---`: prompt templates and skills.
import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";

export interface MarkdownFile {
  readonly head: Readonly<Record<string, unknown>>;
  /** What follows the head, trimmed. */
  readonly body: string;
}

/** A file larger than this is none of ours. */
const maxBytes = 1024 * 1024;

/** Throws the file system's error, or one that says why it is none. */
export function readMarkdown(path: string): MarkdownFile {
  // Non-blocking, so that a FIFO under this name cannot hang us.
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile()) throw new Error("it is not a regular file");
    if (stat.size > maxBytes) throw new Error(`it is larger than ${maxBytes / 1024 / 1024} MB`);
    return parseMarkdown(readFileSync(fd, "utf8"));
  } finally {
    closeSync(fd);
  }
}

export function parseMarkdown(text: string): MarkdownFile {
  const match = /^\ufeff?---[ \t]*\r?\n(?:(.*?)\r?\n)?---[ \t]*(?:\r?\n(.*))?$/s.exec(text);
  return match ? { head: parseHead(match[1] ?? ""), body: (match[2] ?? "").trim() } : { head: {}, body: text.trim() };
}

function parseHead(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = Bun.YAML.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return { ...value };
  } catch {
    // Many are written by hand, with a colon where YAML wants quotes.
  }
  return Object.fromEntries(
    text.split(/\r?\n/).flatMap((line) => {
      const match = /^([\w-]+):[ \t]*(.*?)[ \t]*$/.exec(line);
      return match ? [[match[1] as string, unquoted(match[2] ?? "")]] : [];
    }),
  );
}

function unquoted(text: string): string {
  return /^(["']).*\1$/s.test(text) && text.length > 1 ? text.slice(1, -1) : text;
}

/** A text of the head, in one line; undefined where there is none. */
export function headText(head: MarkdownFile["head"], key: string): string | undefined {
  const value = head[key];
  if (typeof value !== "string") return undefined;
  const text = value.replaceAll(/\s+/g, " ").trim();
  return text === "" ? undefined : text;
}
