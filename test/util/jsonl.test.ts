import { expect, test } from "bun:test";
import { createLineSplitter, createTextSplitter, type Line, type TextLine } from "../../src/util/jsonl.ts";

const text = (line: Line) => ("bytes" in line ? Buffer.from(line.bytes).toString() : `too long: ${line.tooLong}`);

/** The lines of `input`, given in pieces of `size` bytes. */
function split(input: string, size: number, maxBytes = 1000): string[] {
  const bytes = Buffer.from(input);
  const splitter = createLineSplitter(maxBytes);
  const lines: Line[] = [];
  for (let at = 0; at < bytes.length; at += size) lines.push(...splitter.push(bytes.subarray(at, at + size)));
  return [...lines, ...splitter.end()].map(text);
}

/** The same as text, with what is no text as it is. */
function splitText(input: string | Uint8Array, size: number, maxBytes = 1000): TextLine[] {
  const bytes = Buffer.from(input);
  const splitter = createTextSplitter(maxBytes);
  const lines: TextLine[] = [];
  for (let at = 0; at < bytes.length; at += size) lines.push(...splitter.push(bytes.subarray(at, at + size)));
  return [...lines, ...splitter.end()];
}

test.each([
  ["lines", "a\nb\n", ["a", "b"]],
  ["a last line without an end", "a\nb", ["a", "b"]],
  ["carriage returns before the line feed", "a\r\nb\r\n\r\n", ["a", "b", ""]],
  ["a carriage return elsewhere", "a\rb\n", ["a\rb"]],
  ["the separators of Unicode, which separate nothing", "a\u2028b\u2029c\u0085d\ve\n", ["a\u2028b\u2029c\u0085d\ve"]],
  ["characters of several bytes", "ä🌍\n北\n", ["ä🌍", "北"]],
  ["blank lines", "\n\na\n", ["", "", "a"]],
  ["nothing", "", []],
])("%s, whatever the pieces", (_name, input, lines) => {
  for (const size of [1, 2, 3, 5, 1000]) {
    expect(split(input, size)).toEqual(lines);
    expect(splitText(input, size)).toEqual(lines);
  }
});

test("a line that is too long is passed over, with its length, and the next one is whole", () => {
  for (const size of [1, 7, 1000]) {
    expect(split(`${"x".repeat(50)}\nshort\n${"y".repeat(11)}`, size, 10)).toEqual([
      "too long: 50",
      "short",
      "too long: 11",
    ]);
  }
});

test("as text, too, a line that is too long costs itself alone, and so does one that is not UTF-8", () => {
  for (const size of [1, 7, 1000]) {
    expect(splitText(`${"x".repeat(50)}\nshort\n${"y".repeat(11)}`, size, 10)).toEqual([
      { tooLong: 50 },
      "short",
      { tooLong: 11 },
    ]);
    const broken = Buffer.from([0x61, 0x0a, 0xc3, 0x28, 0x0a, 0xc3, 0xa4, 0x0a, 0xff]);
    expect(splitText(broken, size)).toEqual([
      "a",
      { notUtf8: Uint8Array.of(0xc3, 0x28) },
      "ä",
      { notUtf8: Uint8Array.of(0xff) },
    ]);
  }
});
