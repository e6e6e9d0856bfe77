import { describe, expect, test } from "bun:test";
import { createBoundedOutput } from "../../src/tools/bounded-output.ts";

const limit = 10_000;

/** What is left of `pieces`, each written by itself. */
function plain(pieces: readonly (string | Uint8Array)[]): string {
  const output = createBoundedOutput(limit);
  for (const piece of pieces) output.write(Buffer.from(piece as string));
  output.end();
  expect(output.length()).toBe(output.head(limit).length);
  return output.head(limit);
}

const cases: [name: string, input: string, text: string][] = [
  ["plain text stays", "a\tb\nc", "a\tb\nc"],
  ["colours go", "\x1b[1;31mred\x1b[0m and \x1b[38:2::1:2:3mmore\x1b[m", "red and more"],
  ["cursor movements go", "a\x1b[2Jb\x1b[10;20Hc\x1b[?25l", "abc"],
  ["a title goes, ended by BEL", "a\x1b]0;title\x07b", "ab"],
  ["a title goes, ended by ST", "a\x1b]0;title\x1b\\b", "ab"],
  ["what would write the clipboard goes", "\x1b]52;c;ZXZpbA==\x07x", "x"],
  ["links keep their words", "\x1b]8;;http://x\x1b\\words\x1b]8;;\x1b\\", "words"],
  ["device control strings go", "a\x1bPq#0;2;0\x1b\\b", "ab"],
  ["eight-bit sequences go", "a\u009b31mb\u009d0;x\u009cc", "abc"],
  ["character sets and keypad modes go", "\x1b(B\x1b=a\x1b)0b\x1b7\x1b8\x1bM", "ab"],
  ["a string that never ends takes its line and no more", "a\x1b]0;title\nb", "a\nb"],
  ["a string that another sequence breaks off", "a\x1b]0;t\x1b[1mb", "ab"],
  ["a sequence that is none", "a\x1b[1\nb\x1b\x1b[31mc\x1b", "a\nbc"],
  ["control characters go", "a\0b\x08\x07c\x0b\x0c\x7f\x85d", "abcd"],
  ["CRLF is a line end", "a\r\nb\r\n\r\nc", "a\nb\n\nc"],
  ["two CR before the line feed too", "a\r\r\nb", "a\nb"],
  ["a progress bar is its last state", "10%\r50%\r100%\ndone", "100%\ndone"],
  ["a line that only went back to its start is whole", "abc\r", "abc"],
  ["only the line itself is overwritten", "one\ntwo\rTWO\nthree", "one\nTWO\nthree"],
  ["a spinner that is wiped is gone", "work\n| wait\r/ wait\r\x1b[Kready\n", "work\nready\n"],
  ["a spinner that is wiped at the end too", "work\n- wait\r\x1b[K", "work\n"],
  ["a line that is wiped as a whole", "a\nspin\x1b[2K\x1b[1Gok", "a\nok"],
  ["a line that is wiped only to its right stays", "Counting: 100%\x1b[K\ndone", "Counting: 100%\ndone"],
  ["colours between CR and text", "\x1b[32m1/2\x1b[0m\r\x1b[32m2/2\x1b[0m\n", "2/2\n"],
  ["other alphabets and emoji stay", "é漢字😀\r😀é\n", "😀é\n"],
];

describe("what is left of terminal output", () => {
  test.each(cases)("%s", (_, input, text) => {
    expect(plain([input])).toBe(text);
  });

  test.each(cases)("%s, cut anywhere", (_, input, text) => {
    const bytes = Buffer.from(input);
    for (let at = 1; at < bytes.length; at++) expect(plain([bytes.subarray(0, at), bytes.subarray(at)])).toBe(text);
    expect(plain([...bytes].map((byte) => Uint8Array.of(byte)))).toBe(text);
  });
});

describe("any output", () => {
  const alphabet = [
    "a",
    "b c",
    "\n",
    "\r",
    "\x1b",
    "\x1b[",
    "31m",
    "K",
    "2K",
    "]0;",
    "\x07",
    "\x1b\\",
    "\0",
    "é",
    "😀",
    "\xff",
    "x".repeat(5000),
    "line\n".repeat(1000),
  ];
  /** A small generator, so that a failure can be repeated. */
  function randomPieces(seed: number): Buffer[] {
    let state = seed;
    const next = (below: number) => {
      state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
      return Math.floor((state / 2_147_483_648) * below);
    };
    return Array.from({ length: 60 }, () =>
      Buffer.from(alphabet[next(alphabet.length)] ?? "", next(9) === 0 ? "latin1" : "utf8"),
    );
  }

  test.each(Array.from({ length: 40 }, (_, seed) => seed))(
    "means the same in one piece, in pieces and byte by byte (%i)",
    (seed) => {
      const pieces = randomPieces(seed + 1);
      const whole = Buffer.concat(pieces);
      const results = [[whole], pieces, [...whole].map((byte) => Uint8Array.of(byte))].map((parts) => {
        const output = createBoundedOutput(7000);
        for (const part of parts) {
          // The memory is used again, as a reader of a pipe does.
          const memory = new Uint8Array(part);
          output.write(memory);
          memory.fill(0x21);
        }
        output.end();
        return [output.length(), output.head(7000), output.tail(7000), output.tail(3)];
      });
      expect(results[1]).toEqual(results[0] as never);
      expect(results[2]).toEqual(results[0] as never);
      expect(`${results[0]?.[1]}`).not.toMatch(/[\0-\x08\x0b-\x1f\x7f-\x9f]/);
    },
  );
});

describe("the ends of a long output", () => {
  test("are its first and last characters, the middle is only counted", () => {
    const output = createBoundedOutput(100);
    output.write(Buffer.from(`begin ${"x".repeat(100_000)} end`));
    for (let i = 0; i < 50; i++) output.write(Buffer.from("y".repeat(5000)));
    output.write(Buffer.from("\nlast"));
    expect([output.length(), output.head(8), output.tail(8)]).toEqual([350_015, "begin xx", "yyy\nlast"]);
  });

  test("never hold half of a character", () => {
    const output = createBoundedOutput(11);
    output.write(Buffer.from("😀".repeat(10)));
    expect([output.head(11), output.tail(11)]).toEqual(["😀".repeat(5), "😀".repeat(5)]);
  });

  test("follow a line that overwrites itself after the beginning is full", () => {
    const output = createBoundedOutput(100);
    output.write(Buffer.from("x".repeat(200)));
    output.write(Buffer.from("\n10%\r20%\r30%"));
    expect([output.tail(5), output.length()]).toEqual(["x\n30%", 204]);
  });
});
