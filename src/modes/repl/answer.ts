// The text of an answer on the screen: each line as it comes, its words wrapped, and in its final look as soon as it is whole.
import { wrapWords } from "../layout.ts";
import type { Paint, Style } from "../style.ts";
import { createMarkdown } from "./markdown.ts";
import type { Screen } from "./screen.ts";

export interface Answer {
  /** Prints what comes next, which does not end with blanks. */
  write(text: string): void;
  /** Tells which blanks came behind it so far. */
  rest(blanks: string): void;
  /** Nothing more comes, or something else is printed first. */
  end(): void;
}

/** A row that is longer has no words to wrap, and would take long to measure again and again. */
const maxRow = 1000;

/** `paint` is for all of it, and not to be mixed with what `style` paints. */
export function createAnswer(screen: Screen, style: Style, paint: Paint = (text) => text): Answer {
  const markdown = createMarkdown(style);
  /** What gets its look together, as written: a line, or the rows of a table. */
  let piece = "";
  /** The end of it that is not shown yet. */
  let pending = "";
  /** The beginning of it as it is shown: all rows but the last, and the last. */
  let above = "";
  let row = "";
  /** The view it began in, as long as what is shown can be replaced. */
  let view: object | undefined;
  /** Whether the rest of a table comes with its look, since with more of it as written the beginning would be out of reach. */
  let waiting = false;
  /** What is to be printed next, in one go. */
  let output = "";

  function print(text: string): void {
    output += text;
  }

  function flush(): void {
    screen.print(paint(output));
    output = "";
  }

  function replace(shown: string, text: string): boolean {
    flush();
    return view !== undefined && screen.replace(view, shown, paint(text));
  }

  function add(text: string): void {
    piece += text;
    pending += text;
  }

  function show(): void {
    if (pending === "") return;
    if (above === "" && row === "") view = screen.view;
    waiting ||= view !== undefined && view === screen.view && isTable() && !screen.fits(above + row + pending);
    if (waiting) return;
    if (!view || !showWrapped()) {
      view = undefined;
      print(pending);
      row += pending;
    } else if (row.length > maxRow) view = undefined;
    pending = "";
  }

  function isTable(): boolean {
    return markdown.joins(piece, piece);
  }

  /** False where the row that another word would make too long is out of reach. */
  function showWrapped(): boolean {
    const rows = wrap(row + pending);
    if (rows.startsWith(row)) print(rows.slice(row.length));
    else if (!replace(row, rows)) return false;
    const last = rows.lastIndexOf("\n") + 1;
    above += rows.slice(0, last);
    row = rows.slice(last);
    return true;
  }

  function wrap(text: string): string {
    const { columns } = screen;
    const margin = Bun.stringWidth(text) > columns ? markdown.margin(piece, columns) : undefined;
    if (!margin) return text;
    const start = above === "" ? margin.written : margin.below;
    const words = text.slice(start.length);
    const rows = wrapWords(words, columns - Bun.stringWidth(margin.below));
    return start + rows.map(({ start, end }) => words.slice(start, end)).join(`\n${margin.below}`);
  }

  /** Gives the piece its look, and begins the next one behind `end`. */
  function finish(end: string): void {
    const shown = above + row;
    const rendered = markdown.render(piece, screen.columns);
    if (rendered.startsWith(shown)) print(rendered.slice(shown.length) + end);
    else if (!replace(shown, rendered + end)) print(pending.trimEnd() + end);
    piece = pending = above = row = "";
    waiting = false;
  }

  function end(): void {
    finish("");
    flush();
  }

  return {
    write(text) {
      const [first = "", ...lines] = text.split("\n");
      add(first);
      for (const line of lines) {
        if (markdown.joins(piece, line)) add(`\n${line}`);
        else {
          finish("\n");
          add(line);
        }
      }
      show();
      flush();
    },
    rest(blanks) {
      const breaks = blanks.split("\n").length - 1;
      // One alone may stand between two rows of a table.
      if (breaks > 1 || (breaks === 1 && !isTable())) end();
    },
    end,
  };
}
