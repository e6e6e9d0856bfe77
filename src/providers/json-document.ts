// A JSON document where a stream was asked for: what gateways send with status 200 when they fail at once.
import type { Answer, Body } from "./body.ts";

/** The body of an answer; a JSON document in it is made the data of one event, byte by byte as it comes. */
export function bodyOfEvents({ headers, body }: Answer): Body | null {
  const [type = ""] = (headers.get("content-type") ?? "").split(";");
  if (!body || type.trim().toLowerCase() !== "application/json") return body;
  return {
    getReader() {
      const reader = body.getReader();
      const toEvent = createConverter();
      return {
        async read() {
          const part = await reader.read();
          return part.done ? part : { done: false, value: toEvent(part.value) };
        },
        cancel: (reason) => reader.cancel(reason),
      };
    },
  };
}

/** Some servers give a true stream the wrong type; it begins otherwise and passes as it is. */
function createConverter(): (bytes: Uint8Array) => Uint8Array {
  let isDocument: boolean | undefined;
  return (bytes) => {
    // Between the values of a document a line end is but a blank; inside of them there is none.
    if (isDocument !== undefined) return isDocument ? onOneLine(bytes) : bytes;
    const first = bytes.find((byte) => !isBlank(byte));
    if (first === undefined) return new Uint8Array();
    isDocument = first === 0x7b;
    return isDocument ? Buffer.concat([Buffer.from("data: "), onOneLine(bytes)]) : bytes;
  };
}

function onOneLine(bytes: Uint8Array): Uint8Array {
  return bytes.map((byte) => (isBlank(byte) ? 0x20 : byte));
}

function isBlank(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}
