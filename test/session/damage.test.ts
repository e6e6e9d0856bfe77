// Whatever happens to a session file costs what it hits and nothing else, and the next entry stands on a line of its own.
import { describe, expect, test } from "bun:test";
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import type { Entry } from "../../src/protocol/entry.ts";
import { buildContext } from "../../src/protocol/tree.ts";
import { readSession, readSessionFile } from "../../src/session/read.ts";
import { openSession } from "../../src/session/store.ts";
import { outline, user } from "../helpers/messages.ts";
import { linesOf, writeSession } from "../helpers/session-file.ts";
import { type TmpDir, tmp } from "../helpers/tmp.ts";

const ids = (entries: readonly Entry[]) => entries.map(({ id }) => id);

function prepare(dir: TmpDir, exchanges = 3) {
  const { path } = writeSession(dir.file("sessions"), "/work", exchanges);
  return { path, bytes: readFileSync(path), entries: readSessionFile(path).entries };
}

/** Opens the file, adds a message and reads the file again. */
function appendTo(path: string) {
  const { session, badLines } = openSession(path);
  const added = session.append({ type: "message", message: user("added") });
  session.close();
  return { added, badLines, after: readSessionFile(path) };
}

describe("a file cut at any byte", () => {
  test("loses at most the entry that was cut", async () => {
    await using dir = tmp();
    const { bytes, entries } = prepare(dir);
    for (let length = 0; length <= bytes.length; length++) {
      const cut = bytes.subarray(0, length);
      const whole = cut.toString("latin1").split("\n").length - 1 - 1;
      const read = readSession(cut);
      // A last line that only lost its end is whole.
      expect([Math.max(0, whole), Math.max(0, whole) + 1]).toContain(read.entries.length);
      expect(ids(read.entries)).toEqual(ids(entries).slice(0, read.entries.length));
      expect(read.badLines).toBeLessThanOrEqual(1);
    }
  });

  test("takes the next entry on a line of its own", async () => {
    await using dir = tmp();
    const { path, bytes } = prepare(dir, 1);
    const firstEntry = bytes.indexOf("\n", bytes.indexOf("\n") + 1);
    for (let length = firstEntry; length <= bytes.length; length++) {
      writeFileSync(path, bytes.subarray(0, length));
      const before = readSessionFile(path);
      const { added, after, badLines } = appendTo(path);
      expect(ids(after.entries)).toEqual([...ids(before.entries), added.id]);
      expect(added.parentId).toBe(before.entries.at(-1)?.id as string);
      expect([badLines, after.badLines]).toEqual([before.badLines, before.badLines]);
    }
  });
});

test("a NUL in the place of any byte loses at most one entry", async () => {
  await using dir = tmp();
  const { bytes, entries } = prepare(dir, 2);
  for (let position = 0; position < bytes.length; position++) {
    const damaged = Buffer.from(bytes);
    damaged[position] = 0;
    const read = readSession(damaged);
    const left = new Set(ids(read.entries));
    expect(ids(entries).filter((id) => !left.has(id)).length).toBeLessThanOrEqual(1);
    expect(read.badLines).toBeLessThanOrEqual(1);
  }
});

/** Each makes damage between two lines, and how many lines that costs. */
const damages: readonly [string, (lines: string[]) => string, number, number][] = [
  ["a cut last line", (lines) => `${lines.join("\n")}\n{"type":"message","mess`, 0, 1],
  ["a missing newline at the end", (lines) => lines.join("\n"), 0, 0],
  ["a missing newline in the middle", (lines) => `${lines.slice(0, 3).join("\n")}${lines.slice(3).join("\n")}\n`, 0, 0],
  [
    "a block of NULs on a line of its own",
    (lines) => [...lines.slice(0, 3), "\0".repeat(300), ...lines.slice(3), ""].join("\n"),
    0,
    1,
  ],
  [
    "a block of NULs that a line follows",
    (lines) => [...lines.slice(0, 3), "\0".repeat(300) + lines[3], ...lines.slice(4), ""].join("\n"),
    0,
    1,
  ],
  ["a block of NULs at the end", (lines) => `${lines.join("\n")}\n${"\0".repeat(4096)}`, 0, 1],
  ["a bad line in the middle", (lines) => [...lines.slice(0, 3), "{not json}", ...lines.slice(3), ""].join("\n"), 0, 1],
  [
    "a fragment that an entry was glued to",
    (lines) => [...lines.slice(0, 3), lines[3]?.slice(0, 60) as string].join("\n") + lines.slice(4).join("\n"),
    1,
    1,
  ],
  ["a lost line", (lines) => [...lines.slice(0, 3), ...lines.slice(4), ""].join("\n"), 1, 0],
  ["CRLF line ends", (lines) => `${lines.join("\r\n")}\r\n`, 0, 0],
  ["blank lines", (lines) => `${lines.join("\n\n \n")}\n`, 0, 0],
  [
    "a message that is none",
    (lines) =>
      [...lines, '{"type":"message","id":"x","parentId":null,"timestamp":"t","message":{"role":"user"}}', ""].join(
        "\n",
      ),
    0,
    1,
  ],
  ["a list, a number and null", (lines) => [...lines, "[]", "7", "null", ""].join("\n"), 0, 3],
];

test.each(damages)("%s", async (_name, damage, lost, badLines) => {
  await using dir = tmp();
  const { path, entries } = prepare(dir);
  writeFileSync(path, damage(linesOf(path)));
  const { added, after, badLines: counted } = appendTo(path);
  expect(after.entries).toHaveLength(entries.length - lost + 1);
  expect(counted).toBe(badLines);
  expect(after.entries.at(-1)).toEqual(added);
  // Everything before and after the damage is in the conversation.
  const said = outline(buildContext(after.entries, added.id).messages);
  expect(said).toHaveLength(6 - lost + 1);
  expect(said.at(0)).toBe("user question 1 ü北🌍");
  expect(said.at(-1)).toBe("user added");
});

test("a cut inside a character costs that line alone", async () => {
  await using dir = tmp();
  const { path, bytes, entries } = prepare(dir);
  const cut = bytes.lastIndexOf(Buffer.from("🌍")) + 2;
  writeFileSync(path, bytes.subarray(0, cut));
  const { added, after } = appendTo(path);
  expect(ids(after.entries)).toEqual([...ids(entries).slice(0, -1), added.id]);
});

test("a lost header is made again, with the id in the file's name, and nothing else is changed", async () => {
  await using dir = tmp();
  const { path, entries } = prepare(dir);
  const [, ...lines] = linesOf(path);
  writeFileSync(path, `{"type":"ses\n${lines.join("\n")}\n`);
  const { session, badLines } = openSession(path);
  session.close();
  expect(badLines).toBe(1);
  expect(path).toContain(session.id);
  expect(linesOf(path).slice(1)).toEqual(lines);
  expect(readSessionFile(path)).toMatchObject({ badLines: 0, header: { id: session.id, version: 3 }, entries });
});

test("a session goes on after every crash of many", async () => {
  await using dir = tmp();
  const { path } = prepare(dir, 1);
  for (let i = 0; i < 20; i++) {
    appendFileSync(path, '{"type":"message","id":"abc');
    appendTo(path);
  }
  expect(readSessionFile(path)).toMatchObject({ badLines: 20 });
  expect(readSessionFile(path).entries).toHaveLength(3 + 20);
});

test.each([
  ["an empty file", ""],
  ["a text", "hello\nworld\n"],
  ["a picture", "\x89PNG\r\n\x1a\n\0\0\0"],
])("%s is no session", async (_name, content) => {
  await using dir = tmp();
  const path = dir.file("x.jsonl");
  writeFileSync(path, content);
  expect(() => openSession(path)).toThrow("is not a session file");
  expect(readFileSync(path, "utf8")).toBe(content);
});
