// Bytes of a response body → server-sent events (WHATWG HTML, "Server-sent events").
import { AppError } from "../util/error.ts";
import { type Body, type BodyLimits, openBody } from "./body.ts";

/** One event; what a client would need to connect again (`id`, `retry`) is passed over. */
export interface ServerSentEvent {
  readonly data: string;
  /** Its name, where it has one. */
  readonly event: string | undefined;
}

/**
 * The events of `body`, one array for each network read that completed any. A last event without its blank line still counts,
 * unless `isCut` says that its data stops in the middle.
 * Ends with the `AppError` of a body that fails; the body is cancelled in every case.
 */
export async function* readSse(
  body: Body,
  signal: AbortSignal,
  limits: BodyLimits,
  isCut: (data: string) => boolean = () => false,
): AsyncGenerator<ServerSentEvent[], void, undefined> {
  const feed = createSseParser();
  const decoder = new TextDecoder();
  const reader = openBody(body, signal, limits);
  try {
    for (let bytes = await reader.read(); bytes; bytes = await reader.read()) {
      const events = feed(decoder.decode(bytes, { stream: true }));
      if (events.length > 0) yield events;
    }
    const last = feed(`${decoder.decode()}\n\n`).filter(({ data }) => !isCut(data));
    if (last.length > 0) yield last;
  } finally {
    reader.close();
  }
}

const lineFeed = 0x0a;
/** An event that does not end is not held for ever; in characters. */
const longestEvent = 64 * 1024 * 1024;

/**
 * Takes the text of a stream piece by piece, wherever it is cut, and gives the events that each piece completes; unknown fields are no error.
 * Throws `AppError` `stream_error` for an event that is too long to be one.
 */
export function createSseParser(): (piece: string) => ServerSentEvent[] {
  /** The beginning of a line whose end has not come. */
  let begun = "";
  let event: string | undefined;
  /** The lines of data so far; undefined when there is none, which is no event. */
  let data: string | undefined;
  /** A carriage return came last; a line feed behind it belongs to it. */
  let afterReturn = false;

  function readLine(line: string, events: ServerSentEvent[]): void {
    if (line === "") {
      if (data !== undefined) events.push({ data, event });
      data = event = undefined;
      return;
    }
    const colon = line.indexOf(":");
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
    if (name === "data") data = data === undefined ? value : `${data}\n${value}`;
    else if (name === "event") event = value || undefined;
  }

  function withLineFeeds(piece: string): string {
    const rest = afterReturn && piece.startsWith("\n") ? piece.slice(1) : piece;
    afterReturn = piece.endsWith("\r");
    return rest.replace(/\r\n?/g, "\n");
  }

  return (piece) => {
    const events: ServerSentEvent[] = [];
    if (piece === "") return events;
    const text = afterReturn || piece.includes("\r") ? withLineFeeds(piece) : piece;
    let at = 0;
    for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", at)) {
      // Nearly every event is one line of data, and nearly all the time of an answer goes by here.
      if (
        data === undefined &&
        begun === "" &&
        text.startsWith("data: ", at) &&
        text.charCodeAt(end + 1) === lineFeed
      ) {
        events.push({ data: text.slice(at + 6, end), event });
        event = undefined;
        at = end + 2;
        continue;
      }
      readLine(begun + text.slice(at, end), events);
      begun = "";
      at = end + 1;
    }
    begun += text.slice(at);
    if (begun.length + (data?.length ?? 0) > longestEvent) throw tooLong();
    return events;
  };
}

function tooLong(): AppError {
  return new AppError("stream_error", `The provider sent an event of more than ${longestEvent / 1024 / 1024} MB`, {
    hint: "Something else than a provider may answer there: check the base URL and the proxy.",
  });
}
