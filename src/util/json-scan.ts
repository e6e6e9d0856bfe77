// Follows the nesting of a JSON object that arrives in pieces, without parsing it: where it is whole, where a second one begins.

export interface JsonScan {
  /** Reads `text` up to where a second object would begin: that offset, or `text.length`. */
  feed(text: string): number;
  /** Whether a whole object has been read. */
  complete(): boolean;
}

/** Whether `text` begins like a JSON object or array and stops before its end. */
export function isCutJson(text: string): boolean {
  if (!/^\s*[{[]/.test(text)) return false;
  const scan = createJsonScan();
  scan.feed(text);
  return !scan.complete();
}

const quote = 0x22;
const backslash = 0x5c;

/** A scan that has read nothing yet; its work is linear in the text fed. */
export function createJsonScan(): JsonScan {
  let depth = 0;
  let done = false;
  let inString = false;
  let escaped = false;
  return {
    feed(text) {
      for (let i = 0; i < text.length; i++) {
        const code = text.charCodeAt(i);
        if (inString) {
          if (escaped) escaped = false;
          else if (code === backslash) escaped = true;
          else if (code === quote) inString = false;
        } else if (code === quote) inString = true;
        else if (code === 0x7b || code === 0x5b) {
          if (done && code === 0x7b) return i;
          depth++;
        } else if (code === 0x7d || code === 0x5d) {
          depth--;
          if (depth === 0) done = true;
        }
      }
      return text.length;
    },
    complete: () => done,
  };
}
