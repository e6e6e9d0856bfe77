// Bytes of a response body → server-sent events (WHATWG HTML, "Server-sent events").
import { createParser, type EventSourceMessage } from "eventsource-parser";
import { type Body, type BodyLimits, openBody } from "./body.ts";

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
): AsyncGenerator<EventSourceMessage[], void, undefined> {
  let events: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (event) => events.push(event) });
  const decoder = new TextDecoder();
  const reader = openBody(body, signal, limits);
  try {
    for (let bytes = await reader.read(); bytes; bytes = await reader.read()) {
      const text = decoder.decode(bytes, { stream: true });
      // The parser copies whatever comes with the end of a line that it has the beginning of: that end alone, then.
      const lineEnd = text.indexOf("\n") + 1;
      parser.feed(text.slice(0, lineEnd));
      parser.feed(text.slice(lineEnd));
      if (events.length > 0) {
        yield events;
        events = [];
      }
    }
    parser.feed(`${decoder.decode()}\n\n`);
    const last = events.filter(({ data }) => !isCut(data));
    if (last.length > 0) yield last;
  } finally {
    reader.close();
  }
}
