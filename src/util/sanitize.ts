// Untrusted text made safe for a terminal: what could move the cursor, recolour, retitle or reorder is shown instead of sent.
import { lazy } from "./lazy.ts";

// Control characters but for tab and LF; line separators; and characters that show nothing but are there: the bidi controls (Unicode TR9),
// blanks without width, fillers, selectors of variants, and the tags in which whole sentences can hide.
const control = String.raw`[\p{Cc}--[\t\n]]`;
const invisible = String.raw`[\p{Default_Ignorable_Code_Point}\u2028\u2029\ufff9-\ufffb]`;
// What makes an emoji of what stands before it, or one of two; and what joins or parts letters in scripts that are written joined.
const emojiPart = String.raw`(?<=\p{Extended_Pictographic})[\ufe0e\ufe0f]|(?<=[0-9#*])\ufe0f(?=\u20e3)|(?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f])\u200d(?=\p{Extended_Pictographic})`;
const letterJoiner = String.raw`(?<=[[\p{L}\p{M}]&&[\p{scx=Arab}\p{scx=Syrc}\p{scx=Beng}\p{scx=Deva}\p{scx=Gujr}\p{scx=Guru}\p{scx=Khmr}\p{scx=Knda}\p{scx=Mlym}\p{scx=Mymr}\p{scx=Orya}\p{scx=Sinh}\p{scx=Taml}\p{scx=Telu}]])[\u200c\u200d](?!\p{Default_Ignorable_Code_Point})`;
const unsafe = lazy(() => new RegExp(`(?!${emojiPart}|${letterJoiner})(?:${control}|${invisible})`, "gv"));
/** What most text is made of; the expression for the rest takes a millisecond to make. */
const plain = /^[\t\n\x20-\x7e]*$/;

/** `text` with control characters visible (ESC as ␛, others as their picture or code point); CRLF becomes LF. */
export function visible(text: string): string {
  if (plain.test(text)) return text;
  return text.replace(/\r\n/g, "\n").replace(unsafe(), picture);
}

/** What is judged by the character behind it, and the first half of one. */
const undecided = /(?:\r|[\u200c\u200d]+|(?<=[0-9#*])\ufe0f)?[\ud800-\udbff]?$/;

/** `visible` for a text that comes in pieces, wherever they part it. What is still undecided at the text's end is left out. */
export function createVisible(): (piece: string) => string {
  /** The last character that was given back, as it came, and what waits for the next piece. */
  let before = "";
  let waiting = "";
  return (piece) => {
    const whole = before + waiting + piece;
    waiting = undecided.exec(whole)?.[0] ?? "";
    const decided = whole.slice(0, whole.length - waiting.length);
    const shown = visible(decided).slice(visible(before).length);
    before = decided.slice(-2);
    return shown;
  };
}

/** A JSON text with what `visible` would show escaped as JSON has it: the same value, safe on a terminal. */
export function visibleJson(json: string): string {
  if (plain.test(json)) return json;
  // A CR that is not escaped can only stand between two tokens.
  return json.replace(/\r\n?/g, "\n").replace(unsafe(), escapeUnits);
}

function escapeUnits(character: string): string {
  const units = Array.from({ length: character.length }, (_, i) => character.charCodeAt(i));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("");
}

/** `text` as one visible line: line breaks are shown as ⏎. */
export function visibleLine(text: string): string {
  return visible(text).replaceAll("\n", "⏎").replaceAll("\t", " ");
}

function picture(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  if (code === 0x7f) return "␡";
  return `<U+${code.toString(16).toUpperCase().padStart(4, "0")}>`;
}
