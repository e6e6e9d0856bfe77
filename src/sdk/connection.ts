// The agent's process and the lines between it and the client.
import type { StartOptions } from "./options.ts";

export interface Connection {
  readonly pid: number;
}

export declare function connect(options: StartOptions): Promise<Connection>;
