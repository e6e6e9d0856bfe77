// Lists to pick from: which rows are shown, and what an answer means.
import { expect, test } from "bun:test";
import { createPicker } from "../../src/modes/picker.ts";

const rows = Array.from({ length: 30 }, (_, i) => `row ${i + 1}${i % 2 === 0 ? " odd" : ""}`);
const lines = (picker: ReturnType<typeof createPicker>) => picker.list().split("\n");

test("of many rows the first are shown, or the last, with the numbers that they have, and how many there are beside", () => {
  const first = lines(createPicker(rows));
  expect([first.length, first[0], first.at(-2), first.at(-1)]).toEqual([
    21,
    "   1  row 1 odd",
    "  20  row 20",
    "      and 10 more",
  ]);
  const last = lines(createPicker(rows, "end"));
  expect([last.length, last[0], last[1], last.at(-1)]).toEqual([
    21,
    "      10 earlier ones",
    "  11  row 11 odd",
    "  30  row 30",
  ]);
  expect(lines(createPicker(rows.slice(0, 20), "end"))).toEqual(lines(createPicker(rows.slice(0, 20))));
});

test("an answer is a row's number, shown or not, or a text that narrows the list down", () => {
  const picker = createPicker(rows);
  expect(picker.answer(" 25 ")).toEqual({ type: "picked", index: 24 });
  expect(picker.answer("row 29")).toEqual({ type: "picked", index: 28 });
  expect(picker.answer("ODD")).toEqual({ type: "again" });
  expect(lines(picker)).toHaveLength(15);
  expect(picker.answer("")).toEqual({ type: "none" });
  expect(picker.answer("31")).toEqual({ type: "again" });
  expect(picker.list()).toBe("Nothing here has '31' in it.");
});
