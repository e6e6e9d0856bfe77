// Picking one of many rows by its number; any other text narrows the list down. Free of the terminal, which others show it on.

export interface Picker {
  /** The rows to choose from, numbered, newest or nearest first; whole lines without an end. */
  list(): string;
  readonly question: string;
  /** What an answer means; after `again` the list has changed. */
  answer(text: string): PickerStep;
}

export type PickerStep =
  | { readonly type: "picked"; readonly index: number }
  | { readonly type: "none" }
  | { readonly type: "again" };

const shown = 20;

/** Of more rows than are shown at once, `from` says whether the first or the last ones are. */
export function createPicker(rows: readonly string[], from: "start" | "end" = "start"): Picker {
  const all = rows.map((text, index) => ({ text, index }));
  let filter = "";
  const matching = () => all.filter(({ text }) => text.toLowerCase().includes(filter.toLowerCase()));
  return {
    list() {
      const found = matching();
      if (found.length === 0) return `Nothing here has '${filter}' in it.`;
      const part = from === "start" ? found.slice(0, shown) : found.slice(-shown);
      const lines = part.map(({ text, index }) => `${String(index + 1).padStart(4)}  ${text}`);
      const rest = found.length - part.length;
      if (rest === 0) return lines.join("\n");
      return (from === "start" ? [...lines, `      and ${rest} more`] : [`      ${rest} earlier ones`, ...lines]).join(
        "\n",
      );
    },
    question: "Number, or text to look for (Enter: none): ",
    answer(text) {
      const answer = text.trim();
      if (answer === "") return { type: "none" };
      const index = /^\d+$/.test(answer) ? Number(answer) - 1 : -1;
      if (all[index]) return { type: "picked", index };
      filter = answer;
      const [only, ...others] = matching();
      return only && others.length === 0 ? { type: "picked", index: only.index } : { type: "again" };
    },
  };
}
