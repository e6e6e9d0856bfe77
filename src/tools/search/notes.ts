// What a search has to say about itself, below what it found.
import { plural } from "../../util/plural.ts";
import { reasonOf } from "../regular-file.ts";

export interface Notes {
  add(text: string): void;
  /** A file or folder that was passed over. */
  unreadable(shown: string, error: unknown): void;
  /** Files or folders that a rule keeps from being shown. */
  denied(count: number): void;
  /** One line each. */
  lines(): string[];
}

/** More are only counted. */
const maxNamed = 3;
const maxNotes = 10;

export function createNotes(): Notes {
  const notes: string[] = [];
  const unreadable: string[] = [];
  let failures = 0;
  let left = 0;
  let denied = 0;
  return {
    add(text) {
      if (notes.length < maxNotes) notes.push(text);
      else left++;
    },
    unreadable(shown, error) {
      failures++;
      if (unreadable.length >= maxNamed) return;
      unreadable.push(`${shown} (${reasonOf((error as NodeJS.ErrnoException).code ?? "error")})`);
    },
    denied(count) {
      denied += count;
    },
    lines() {
      const more = failures > unreadable.length ? ", and others" : "";
      return [
        ...notes,
        ...(left > 0 ? [`and ${plural(left, "note")} more`] : []),
        ...(denied > 0 ? [`${plural(denied, "path")} ${denied === 1 ? "is" : "are"} denied by a rule`] : []),
        ...(failures > 0 ? [`${plural(failures, "path")} could not be read: ${unreadable.join(", ")}${more}`] : []),
      ].map((note) => `... ${note}`);
    },
  };
}
