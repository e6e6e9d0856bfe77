// What a server and the ways to reach it agree on. The library's own `Transport`, with what an error can say about the other side.
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";

export interface ServerTransport extends Transport {
  /** Resolves when nothing of it is left. */
  close(): Promise<void>;
  /** Why it is closed, such as `it ended with exit code 3`; undefined as long as it is open or when we closed it. */
  reason(): string | undefined;
  /** The last words of the server, on lines of their own; "" when there are none. */
  lastWords(): string;
}

/** A server has forgotten our session: the request was not dealt with, and in a new session it can be. */
export class SessionLost extends Error {}
