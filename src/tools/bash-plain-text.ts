// What a command would have left to read on a terminal, from what it wrote to one: escape sequences go, a line that overwrites itself
// is what was drawn last. Works on pieces cut anywhere.

export interface LineSink {
  /** Printable text, tabs and line feeds. */
  text(text: string): void;
  /** Takes back what has come since the last line feed. */
  eraseLine(): void;
}

export interface PlainText {
  write(text: string): void;
  /** Nothing is open: what comes next means the same as at the start, but for the place in the line. */
  isIdle(): boolean;
}

// C0 without BEL, tab, LF, CR and ESC; DEL; C1 without what begins or ends a sequence.
const meaningless = /[\0-\x06\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f-\x8f\x91-\x97\x99\x9a]+/g;
const control = /[\x07\r\x1b\x90\x98\x9b-\x9f]/g;
// ECMA-48: parameters, intermediates, and one byte that ends it.
const csiRest = /([\x30-\x3f]*)[\x20-\x2f]*([\x40-\x7e])?/y;
const escapeRest = /[\x20-\x2f]*([\x30-\x7e])?/y;
const stringStart = /[\x90\x98\x9d-\x9f]|\x1b[\]PX^_]/y;
/** A line feed ends a string too: without that, a stray byte of a binary would swallow all that follows. */
const stringEnd = /[\x07\x9c\x1b\n]/g;
/** A sequence that is longer is none. */
const longestSequence = 100;

export function createPlainText(sink: LineSink): PlainText {
  /** The beginning of a sequence whose rest has not come yet. */
  let open = "";
  let inString = false;
  /** The line will be overwritten by what is printed next. */
  let returned = false;

  function print(text: string): void {
    if (returned && !text.startsWith("\n")) sink.eraseLine();
    returned = false;
    sink.text(text);
  }

  /** Each of these reads on at `at` and gives the place behind what it has taken. */
  function readString(text: string, at: number): number {
    stringEnd.lastIndex = at;
    const end = stringEnd.exec(text)?.index;
    if (end === undefined) return text.length;
    if (text[end] === "\x1b") {
      if (end + 1 === text.length) return hold(text, end);
      inString = false;
      return text[end + 1] === "\\" ? end + 2 : end;
    }
    inString = false;
    return text[end] === "\n" ? end : end + 1;
  }

  function readControl(text: string, at: number): number {
    stringStart.lastIndex = at;
    if (stringStart.test(text)) {
      inString = true;
      return stringStart.lastIndex;
    }
    const character = text[at];
    if (character === "\r") returned = true;
    if (character === "\x9b") return readCsi(text, at, at + 1);
    if (character !== "\x1b") return at + 1;
    return text[at + 1] === "[" ? readCsi(text, at, at + 2) : readEscape(text, at);
  }

  function readCsi(text: string, start: number, at: number): number {
    csiRest.lastIndex = at;
    const [, parameters = "", final] = csiRest.exec(text) ?? [];
    const end = csiRest.lastIndex;
    if (final === undefined && end === text.length) return hold(text, start);
    const whole = parameters === "2";
    if (final === "K" && (whole || (returned && (parameters === "" || parameters === "0")))) {
      sink.eraseLine();
      returned = false;
    }
    return end;
  }

  function readEscape(text: string, at: number): number {
    escapeRest.lastIndex = at + 1;
    const final = escapeRest.exec(text)?.[1];
    const end = escapeRest.lastIndex;
    return final === undefined && end === text.length ? hold(text, at) : end;
  }

  function hold(text: string, at: number): number {
    if (text.length - at <= longestSequence) open = text.slice(at);
    return text.length;
  }

  return {
    write(piece) {
      const text = `${open}${piece}`.replace(meaningless, "");
      open = "";
      for (let at = 0; at < text.length; ) {
        if (inString) {
          at = readString(text, at);
          continue;
        }
        control.lastIndex = at;
        const next = control.exec(text)?.index ?? text.length;
        if (next > at) print(text.slice(at, next));
        at = next < text.length ? readControl(text, next) : next;
      }
    },
    isIdle: () => open === "" && !inString,
  };
}
