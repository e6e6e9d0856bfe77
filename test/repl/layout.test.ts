import { expect, test } from "bun:test";
import {
  columnAfter,
  cutStart,
  cutToWidth,
  layOut,
  rowsDown,
  stopAt,
  stopInRow,
  wrapText,
  wrapWords,
} from "../../src/modes/layout.ts";

test.each([
  ["", 10, [""], [0, 0]],
  ["abc", 10, ["abc"], [0, 3]],
  ["abcd", 4, ["abcd", ""], [1, 0]],
  ["abcde", 4, ["abcd", "e"], [1, 1]],
  ["a\nb", 4, ["a", "b"], [1, 1]],
  ["a\n", 4, ["a", ""], [1, 0]],
  ["漢字漢", 5, ["漢字", "漢"], [1, 2]],
  ["a👩‍👩‍👧b", 3, ["a👩‍👩‍👧", "b"], [1, 1]],
  ["a\tb", 10, ["a    b"], [0, 6]],
  ["\x1b[2J", 10, ["␛[2J"], [0, 4]],
])("%j in %d columns", (text, width, rows, [row, column]) => {
  const layout = layOut(text, width);
  expect(layout.rows).toEqual(rows);
  expect(stopAt(layout, text.length)).toEqual({ offset: text.length, row: row as number, column: column as number });
});

test("every character has its place", () => {
  expect(layOut("ab\n漢c", 3).stops).toEqual([
    { offset: 0, row: 0, column: 0 },
    { offset: 1, row: 0, column: 1 },
    { offset: 2, row: 0, column: 2 },
    { offset: 3, row: 1, column: 0 },
    { offset: 4, row: 1, column: 2 },
    { offset: 5, row: 2, column: 0 },
  ]);
});

test("the place in another row", () => {
  const layout = layOut("abc\n漢字\nx", 10);
  expect(stopInRow(layout, 1, 3)?.offset).toBe(5);
  expect(stopInRow(layout, 2, 3)?.offset).toBe(8);
  expect(stopInRow(layout, 3, 0)).toBeUndefined();
  expect(stopInRow(layout, -1, 0)).toBeUndefined();
});

test.each([
  ["abc", 3, "abc"],
  ["abcd", 3, "ab…"],
  ["漢字漢", 4, "漢…"],
  ["abc", 0, ""],
])("%j cut to %d is %j", (text, width, cut) => {
  expect(cutToWidth(text, width)).toBe(cut);
});

test.each([
  ["abc", 3, "abc"],
  ["abcd", 3, "…cd"],
  ["漢字漢字", 6, "…漢字"],
  ["漢字漢字", 5, "…漢字"],
  ["漢字漢字", 4, "…字"],
  ["abc", 1, "…"],
  ["abc", 0, ""],
])("%j cut at its beginning to %d columns", (text, width, cut) => {
  expect(cutStart(text, width)).toBe(cut);
});

test.each([
  ["abc", 0, 3],
  ["abc", 78, 1],
  ["ab", 78, 80],
  ["x\n", 5, 0],
  ["x\nab", 5, 2],
  ["漢", 79, 2],
  ["a\tb", 0, 9],
  ["", 7, 7],
])("after %j from column %d of 80 the cursor is in %d", (text, column, expected) => {
  expect(columnAfter(text, column, 80)).toBe(expected);
});

test.each([
  ["", 10, 0],
  ["0123456789", 10, 0],
  ["0123456789x", 10, 1],
  ["a\n\n0123456789012345678901\n", 10, 5],
  ["漢字漢字漢", 9, 1],
  ["漢字漢字x漢", 9, 1],
  ["a\tb\tcd", 10, 1],
  ["0123456789\tx", 10, 0],
])("%j in %d columns goes down %d rows", (text, width, expected) => {
  expect(rowsDown(text, width)).toBe(expected);
});

test.each([
  ["", 10, [""]],
  ["  one two  ", 10, ["  one two"]],
  ["one two three", 8, ["one two", "three"]],
  ["one   two", 7, ["one", "two"]],
  ["a longerthanthat word", 8, ["a", "longerthanthat", "word"]],
  ["é é\u00a0é é", 4, ["é", "é\u00a0é", "é"]],
  ["word漢字「漢字」。", 8, ["word漢字", "「漢", "字」。"]],
])("the words of %j in %d columns", (text, width, expected) => {
  expect(wrapWords(text, width).map(({ start, end }) => text.slice(start, end))).toEqual(expected);
});

test.each([
  ["one two\nthree", 20, "one two\nthree"],
  ["one two three four five", 20, "one two three four\nfive"],
  ["  one two three four five", 20, "  one two three four\n  five"],
  ["/a  one two three four", 20, "/a  one two three\n    four"],
  ["/command  one two three", 20, "/command  one two\nthree"],
  ["file  /a/path/that/fits/in/no/row", 24, "file  /a/path/that/fits/in/no/row"],
  ["\x1b[31mone two three four\x1b[39m five", 18, "\x1b[31mone two three four\x1b[39m\nfive"],
])("%j as text in %d columns", (text, columns, expected) => {
  expect(wrapText(text, columns)).toBe(expected);
});
