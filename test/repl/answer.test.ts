// The text of an answer while it streams: what is seen of it on the way, and what stays.
import { expect, test } from "bun:test";
import { renderMarkdown } from "../../src/modes/repl/markdown.ts";
import { createTranscript } from "../../src/modes/repl/transcript.ts";
import { createStyle } from "../../src/modes/style.ts";
import type { AgentEvent } from "../../src/protocol/event.ts";
import { createRandom, pick, type Random } from "../helpers/random-text.ts";
import { renderScreen } from "../helpers/screen.ts";
import { createFakeScreen } from "./fake-screen.ts";

const style = createStyle(true);

function openAnswer(columns: number, rows: number, kind: "text" | "thinking" = "text") {
  const fake = createFakeScreen(columns, rows);
  const transcript = createTranscript(fake.screen, style, { markdown: true, askedMs: () => 0 });
  const follow = (step: Record<string, unknown>) =>
    transcript.follow({ type: "message_update", assistantMessageEvent: step } as unknown as AgentEvent);
  follow({ type: `${kind}_start` });
  return {
    ...fake,
    write: (delta: string) => follow({ type: `${kind}_delta`, delta }),
    end: () => follow({ type: `${kind}_end` }),
    notice: transcript.notice,
    /** Below the blank line that answers begin with. */
    rows: () => fake.shown().slice(1),
  };
}

test("a line is seen as it comes, its words wrapped, and gets its look when it is whole", () => {
  const { write, rows } = openAnswer(20, 10);
  write("This is **ver");
  expect(rows()).toEqual(["This is **ver"]);
  write("y import");
  expect(rows()).toEqual(["This is **very", "import"]);
  write("ant**, so");
  expect(rows()).toEqual(["This is **very", "important**, so"]);
  write("\n");
  expect(rows()).toEqual(["This is very", "important, so"]);
  write("\n- item that is long");
  expect(rows()).toEqual(["This is very", "important, so", "", "- item that is long"]);
  write("er");
  expect(rows()).toEqual(["This is very", "important, so", "", "- item that is", "  longer"]);
});

test("a table is seen as written until a line comes that is none of its rows", () => {
  const { write, rows } = openAnswer(40, 10);
  write("| a | b |\n|--|--|\n| long | x |\n");
  expect(rows()).toEqual(["| a | b |", "|--|--|", "| long | x |"]);
  write("\n");
  expect(rows()).toEqual(["a    │ b", "─────┼──", "long │ x"]);
  write("end");
  expect(rows()).toEqual(["a    │ b", "─────┼──", "long │ x", "", "end"]);
});

test("a table that is higher than the window as written comes to its end unseen, and then in its look", () => {
  const { write, end, screen, rows, scrollback } = openAnswer(20, 8);
  const numbers = [1, 2, 3, 4, 5, 6, 7, 8, 9];
  write("| a | b |\n|---|---|\n");
  for (const number of numbers) {
    write(`| ${number} | **x** |\n`);
    screen.showStatus("wait");
  }
  expect(rows()).toEqual([
    "| a | b |",
    "|---|---|",
    "| 1 | **x** |",
    "| 2 | **x** |",
    "| 3 | **x** |",
    "| 4 | **x** |",
    "wait",
  ]);
  write("\nend");
  end();
  expect(scrollback()).toEqual(["", "a │ b", "──┼──", ...numbers.map((number) => `${number} │ x`), "", "end"]);
});

test("thoughts have their words wrapped, and code stays whole", () => {
  const { write, end, rows } = openAnswer(20, 10, "thinking");
  write("I think **this** is what");
  expect(rows()).toEqual(["I think **this** is", "what"]);
  write(" it was.\n```\nconst x = `long line`;\n```");
  end();
  expect(rows()).toEqual(["I think this is what", "it was.", "───", "const x = `long line", "`;", "───"]);
});

test("an answer that ends in the middle of a line keeps what came", () => {
  const { write, end, rows } = openAnswer(40, 10);
  write("```sh\nls\n```\nSo **that** is `half");
  end();
  expect(rows()).toEqual(["─── sh", "ls", "───", "So that is `half"]);
});

test("a line that is higher than the window stays as written", () => {
  const { write, end, scrollback } = openAnswer(10, 4);
  write("first\n");
  for (const word of "one two **three** four five six seven eight nine".split(" ")) write(`${word} `);
  write("\n**end**");
  end();
  const all = ["", "first", "one two", "**three**", "four five", "six seven", "eight nine", "end"];
  expect(scrollback()).toEqual(all);
});

test("a window that changes leaves what is shown; the next line has the new width", () => {
  const { write, end, resize, rows } = openAnswer(20, 10);
  write("some **bold");
  resize(30, 12);
  write("** words\nand `more` of them here");
  end();
  expect(rows()).toEqual(["some **bold** words", "and more of them here"]);
});

test("the words of a notice are wrapped", () => {
  const { notice, shown } = openAnswer(20, 10);
  notice(style.yellow("that was not what it should be"));
  expect(shown()).toEqual(["that was not what it", "should be"]);
});

test("a notice in the middle of a line stands by itself, and code goes on behind it", () => {
  const { write, end, notice, rows } = openAnswer(40, 20);
  write("```\nx = *a");
  notice("by the way");
  write("* b\n```\n*so*");
  end();
  expect(rows()).toEqual(["───", "x = *a", "", "by the way", "* b", "───", "so"]);
});

const lines = [
  "# A heading",
  "A paragraph with **bold words** and `code`, long enough to be wrapped in most windows, and [a link](https://x.org/a).",
  "1. one *two* three four five six seven eight nine ten",
  "   - nested `item` with https://example.com/a/long/path/that/fits/in/no/row in it",
  "> quoted words, more than there is room for in a row",
  "> ```\n> *code*\n> ```",
  "| a | b |",
  "|---|--:|",
  "| some **words** | 12 |",
  "```ts",
  "  const x = `a`; // and a long line of code that no window wraps between its words",
  "```",
  "漢字漢字漢字漢字漢字漢字漢字、漢字漢字 and ✅ 🚀 emoji",
  "x".repeat(70),
  "\tindented",
  "",
];

function randomAnswer(random: Random): string {
  return ["Begin", ...Array.from({ length: random(20) }, () => pick(random, lines)), "end"].join("\n");
}

/** With a status line that comes and goes. */
function* inPieces(text: string, random: Random, { write, end, screen }: ReturnType<typeof openAnswer>) {
  const most = 1 + random(40);
  for (let from = 0, to = 0; from < text.length; from = to) {
    to = from + 1 + random(most);
    write(text.slice(from, to));
    if (random(4) === 0) screen.showStatus("wait");
    yield;
  }
  end();
}

test("in whatever pieces it comes, it ends as if it had come at once", () => {
  const random = createRandom(7);
  for (let round = 0; round < 100; round++) {
    const text = randomAnswer(random);
    const columns = 8 + random(80);
    const answer = openAnswer(columns, 300);
    for (const _ of inPieces(text, random, answer));
    const whole = `\n${renderMarkdown(text, columns, style)}`.replaceAll("\n", "\r\n");
    expect({ text, shown: answer.shown() }).toEqual({ text, shown: renderScreen(whole, columns, 300) });
  }
});

test("in a low window it never reaches for rows that have scrolled off", () => {
  const random = createRandom(8);
  for (let round = 0; round < 40; round++) {
    const text = randomAnswer(random);
    const answer = openAnswer(8 + random(30), 3 + random(4));
    for (const _ of inPieces(text, random, answer));
    expect({ text, rows: answer.scrollback() }).toEqual({ text, rows: answer.scrollback(300) });
  }
});

test("a line that goes on and on is not looked at from its start with every piece", () => {
  const answer = openAnswer(80, 24);
  const started = performance.now();
  for (let i = 0; i < 250_000; i++) answer.write("abcd");
  answer.end();
  expect(performance.now() - started).toBeLessThan(4000);
});
