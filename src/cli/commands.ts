// The commands there are beside the root one. Each is loaded only when it is meant.
import type { AnyCommand } from "./command.ts";

/** Commands by their first word; anything else is a task for the root command. */
export const commands = new Map<string, () => Promise<AnyCommand>>([
  ["models", async () => (await import("./models.ts")).models],
  ["sessions", async () => (await import("./sessions.ts")).sessions],
  ["mcp", async () => (await import("./mcp.ts")).mcp],
  ["doctor", async () => (await import("./doctor.ts")).doctor],
  ["completions", async () => (await import("./completions/index.ts")).completions],
  ["demo", async () => (await import("./demo.ts")).demo],
]);
