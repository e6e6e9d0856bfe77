// What a terminal sends when keys are pressed → keys with names. Pure but for the piece it keeps until the rest has come.

/** Printable text, a whole bracketed paste, or a key by name, such as `enter`, `ctrl-c`, `alt-b`, `ctrl-left`. */
export type Key =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "paste"; readonly text: string }
  | { readonly type: "press"; readonly name: string };

export interface KeyDecoder {
  feed(text: string): Key[];
  /** Whether the last text ended in the middle of a sequence, or with a lone Escape. */
  pending(): boolean;
  /** Gives up on an unfinished sequence, for when nothing has followed it for a while; `escape` where it was no more than that key. */
  drop(): Key[];
}

const csi = /\x1b\[([0-9:;<=>?]*)[ -/]*([@-~])/y;
const ss3 = /\x1bO([A-Za-z])/y;
const unfinished = /\x1b(?:O|\[[0-9:;<=>?]*[ -/]*)?$/y;
const printable = /[^\x00-\x1f\x7f]+/y;
const pasteStart = "\x1b[200~";
const pasteEnd = "\x1b[201~";

const byLetter: Readonly<Record<string, string>> = {
  A: "up",
  B: "down",
  C: "right",
  D: "left",
  H: "home",
  F: "end",
  M: "enter",
  Z: "shift-tab",
};
/** Of `CSI number ~`, as xterm and the VT220 have them. */
const byNumber: Readonly<Record<string, string>> = { 1: "home", 3: "delete", 4: "end", 7: "home", 8: "end" };
const byControl: Readonly<Record<string, string>> = {
  "\r": "enter",
  "\n": "enter",
  "\t": "tab",
  "\b": "backspace",
  "\x7f": "backspace",
};

export function createKeyDecoder(): KeyDecoder {
  let rest = "";
  let pasting = false;

  function decode(keys: Key[]): void {
    let at = 0;
    const match = (pattern: RegExp) => {
      pattern.lastIndex = at;
      return pattern.exec(rest);
    };
    const press = (name: string | undefined) => name !== undefined && keys.push({ type: "press", name });

    while (at < rest.length) {
      if (pasting) {
        const end = rest.indexOf(pasteEnd, at);
        if (end < 0) break;
        keys.push({ type: "paste", text: rest.slice(at, end).replace(/\r\n?/g, "\n") });
        at = end + pasteEnd.length;
        pasting = false;
        continue;
      }
      const text = match(printable)?.[0];
      if (text !== undefined) {
        keys.push({ type: "text", text });
        at += text.length;
        continue;
      }
      const first = rest[at] as string;
      if (first !== "\x1b") {
        press(controlName(first));
        at += first === "\r" && rest[at + 1] === "\n" ? 2 : 1;
        continue;
      }
      if (match(unfinished)) break;
      const sequence = match(csi);
      const short = sequence ?? match(ss3);
      if (rest.startsWith(pasteStart, at)) pasting = true;
      else if (sequence) press(sequenceName(sequence[1] ?? "", sequence[2] ?? ""));
      else if (short) press(byLetter[short[1] ?? ""]);
      else if (rest[at + 1] === "\x1b") {
        at++;
        continue;
      } else {
        const [character = ""] = rest.slice(at + 1);
        press(`alt-${controlName(character) ?? character.toLowerCase()}`);
        at += 1 + character.length;
        continue;
      }
      at += short?.[0].length ?? 1;
    }
    rest = rest.slice(at);
  }

  return {
    feed(text) {
      rest += text;
      const keys: Key[] = [];
      decode(keys);
      return keys;
    },
    pending: () => rest !== "" && !pasting,
    drop() {
      if (pasting) return [];
      const isEscape = rest === "\x1b";
      rest = "";
      return isEscape ? [{ type: "press", name: "escape" }] : [];
    },
  };
}

function controlName(character: string): string | undefined {
  const code = character.charCodeAt(0);
  if (byControl[character] !== undefined) return byControl[character];
  return code > 0 && code <= 0x1a ? `ctrl-${String.fromCharCode(code + 0x60)}` : undefined;
}

/** `CSI 1 ; modifier letter` and `CSI number ; modifier ~`; the modifier is 1 + shift 1 + alt 2 + ctrl 4. */
function sequenceName(params: string, final: string): string | undefined {
  const [number = "", modifier = "1", third] = params.split(";");
  // Shift-Enter where a terminal tells it apart: `CSI 13 ; 2 u`, or xterm's `CSI 27 ; 2 ; 13 ~`.
  if ((final === "u" && number === "13") || (final === "~" && number === "27" && third === "13")) {
    return modifier === "1" ? "enter" : "alt-enter";
  }
  const name = final === "~" ? byNumber[number] : byLetter[final];
  const bits = Number.parseInt(modifier, 10) - 1;
  if (name === undefined || !bits) return name;
  return bits & 4 ? `ctrl-${name}` : bits & 2 ? `alt-${name}` : name;
}
