// A JSON document where a stream was asked for: what gateways send with status 200 when they fail at once.

/** The same response; a JSON document in it is made the data of one event, byte by byte as it comes. */
export function asEvents(response: Response): Response {
  const isJson = /^application\/json\b/i.test(response.headers.get("content-type") ?? "");
  if (!response.body || !isJson) return response;
  const { status, statusText, headers } = response;
  return new Response(response.body.pipeThrough(toEvent()), { status, statusText, headers });
}

/** Some servers give a true stream the wrong type; it begins otherwise and passes as it is. */
function toEvent(): TransformStream<Uint8Array, Uint8Array> {
  let isDocument: boolean | undefined;
  return new TransformStream({
    transform(bytes, controller) {
      if (isDocument === undefined) {
        const first = bytes.find((byte) => !isBlank(byte));
        if (first === undefined) return;
        isDocument = first === 0x7b;
        if (isDocument) controller.enqueue(new TextEncoder().encode("data: "));
      }
      // Between the values of a document a line end is but a blank; inside of them there is none.
      controller.enqueue(isDocument ? bytes.map((byte) => (isBlank(byte) ? 0x20 : byte)) : bytes);
    },
  });
}

function isBlank(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}
