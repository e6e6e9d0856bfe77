// A server at a URL: the library's streamable HTTP transport over our own fetch, which goes by the proxy variables, has no time limit of its own,
// and sees to it that a request whose answer can no longer come fails at once. Loaded with the first such server.
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { McpHttp } from "../../util/mcp-server.ts";
import { plainReason } from "../../util/plain-reason.ts";
import { redact } from "../../util/redact.ts";
import { type ServerTransport, SessionLost } from "./transport.ts";

/** As `fetch`, for this URL and no other. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** How often in a row the library tries to take up a stream that broke. */
const resumptions = 2;
/** How long the end of the session may take to be said. */
const goodbyeMs = 1000;
/** What an answer, or a message in a stream, may have; more of it is not read. */
const longestMessage = 64 * 1024 * 1024;

export function createHttp(
  { url, headers }: McpHttp,
  fetch: Fetch,
  secrets: readonly string[],
  maxBytes = longestMessage,
): ServerTransport {
  let reason: string | undefined;
  let failedResumptions = 0;
  let closing: Promise<void> | undefined;
  const http = new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: { ...headers } },
    fetch: request,
  });

  async function request(input: string | URL, init: RequestInit = {}): Promise<Response> {
    const isResumption = init.method === "GET" && new Headers(init.headers).has("last-event-id");
    try {
      const response = limited(await fetch(String(input), init), maxBytes, lose);
      if (isResumption) failedResumptions = response.ok ? 0 : failedResumptions + 1;
      const id = init.method === "POST" ? requestId(init.body) : undefined;
      return id === undefined || !isEventStream(response) ? response : watched(response, id);
    } catch (error) {
      if (isResumption) failedResumptions++;
      throw error;
    } finally {
      if (failedResumptions >= resumptions) lose("its connection broke and could not be taken up again");
    }
  }

  /** Says that a request has failed when its stream ends without an answer and cannot be taken up again. An answer that came is the first to count. */
  function watched(response: Response, id: string | number): Response {
    let isResumable = false;
    const decoder = new TextDecoder();
    let line = "";
    const settle = () => {
      if (isResumable || closing) return;
      const error = { code: connectionClosed, message: "the connection was closed before the answer came" };
      // Behind what the library still has to read.
      setTimeout(() => http.onmessage?.({ jsonrpc: "2.0", id, error }), 0);
    };
    const body = response.body?.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform(bytes, controller) {
          if (!isResumable) {
            line = `${line}${decoder.decode(bytes, { stream: true })}`;
            isResumable = /^id:/m.test(line);
            line = line.slice(Math.max(line.lastIndexOf("\n") + 1, line.length - 8));
          }
          controller.enqueue(bytes);
        },
        flush: settle,
      }),
    );
    const { status, statusText, headers: received } = response;
    return new Response(body, { status, statusText, headers: received });
  }

  function lose(why: string): void {
    reason ??= why;
    void transport.close();
  }

  const transport: ServerTransport = {
    start: () => http.start(),
    async send(message) {
      try {
        await http.send(message);
      } catch (error) {
        throw toError(error, url, secrets);
      }
    },
    close() {
      closing ??= (async () => {
        await Promise.race([http.terminateSession().catch(() => {}), Bun.sleep(goodbyeMs)]);
        await http.close();
      })();
      return closing;
    },
    reason: () => reason,
    lastWords: () => "",
    get sessionId() {
      return http.sessionId;
    },
    setProtocolVersion: (version) => http.setProtocolVersion(version),
  };
  http.onmessage = (message) => transport.onmessage?.(message);
  http.onerror = (error) => transport.onerror?.(error);
  http.onclose = () => transport.onclose?.();
  return transport;
}

const connectionClosed = -32000;

/** What went wrong, in words that go behind "the MCP server x: ". */
function toError(error: unknown, url: string, secrets: readonly string[]): Error {
  const { message, code, name } = error as Error & { code?: unknown };
  const text = redact(message.replace(/^Streamable HTTP error: (?:Error POSTing to endpoint: )?/, ""), secrets);
  if (typeof code === "number" && code > 0) {
    const [, target] = /^Redirect to (\S+) not followed/.exec(text) ?? [];
    if (target !== undefined) return new Error(`it redirects to ${target}, which is not followed: name the final URL`);
    // A page is for people to look at.
    const said =
      text.trim() === "" || text === "null" || /^\s*<(?:!doctype|html)/i.test(text)
        ? ""
        : `: ${text.trim().slice(0, 300)}`;
    const hint =
      code === 401 || code === 403 ? " (check headers or bearer_token_env; signing in by OAuth is not supported)" : "";
    const words = `it answered with HTTP ${code}${said}${hint}`;
    return code === 404 || (code === 400 && /session/i.test(text)) ? new SessionLost(words) : new Error(words);
  }
  if (name === "AbortError") return new Error("the connection is closed");
  if (error instanceof TooLarge) return error;
  const [, type] = /^Unexpected content type: (.*)$/.exec(text) ?? [];
  if (type !== undefined || name === "ZodError" || name === "$ZodError" || error instanceof SyntaxError) {
    const what = type === undefined ? "what is no message of the protocol" : `the content type ${type}`;
    return new Error(`it answered with ${what}; is the URL that of an MCP server?`);
  }
  return new Error(`${new URL(url).host} cannot be reached: ${plainReason(error, (words) => redact(words, secrets))}`);
}

class TooLarge extends Error {}

/** The response with a body that fails when it goes on for ever. In a stream of events each one counts for itself, and `lose` is told. */
function limited(response: Response, maxBytes: number, lose: (why: string) => void): Response {
  const isStream = isEventStream(response);
  let length = 0;
  const body = response.body?.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(bytes, controller) {
        const at = isStream ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).lastIndexOf("\n\n") : -1;
        length = at < 0 ? length + bytes.length : bytes.length - at;
        if (length > maxBytes) {
          const why = `it sent a message of more than ${maxBytes / 1024 / 1024} MB`;
          if (isStream) lose(why);
          throw new TooLarge(why);
        }
        controller.enqueue(bytes);
      },
    }),
  );
  const { status, statusText, headers } = response;
  return new Response(body, { status, statusText, headers });
}

/** The id of the request in a body; undefined for a notification or an answer. */
function requestId(body: unknown): string | number | undefined {
  if (typeof body !== "string") return undefined;
  const { id, method } = JSON.parse(body) as { id?: string | number; method?: string };
  return method === undefined ? undefined : id;
}

function isEventStream(response: Response): boolean {
  return response.ok && /^text\/event-stream\b/i.test(response.headers.get("content-type") ?? "");
}
