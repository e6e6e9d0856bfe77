// The built-in tools. Requests need their descriptions and JSON Schemas at once, so these are made when the program is built;
// the code of a tool is loaded with its first call.
import { describeTools } from "./describe.ts" with { type: "macro" };
import type { Tool, ToolSet } from "./tool.ts";

const loaders: Readonly<Record<string, () => Promise<Tool>>> = {
  read: async () => (await import("./read.ts")).read,
  bash: async () => (await import("./bash.ts")).bash,
  edit: async () => (await import("./edit.ts")).edit,
  write: async () => (await import("./write.ts")).write,
  grep: async () => (await import("./grep.ts")).grep,
  find: async () => (await import("./find.ts")).find,
  ls: async () => (await import("./ls.ts")).ls,
};

export function builtinTools(): ToolSet {
  return {
    specs: describeTools(),
    load: async (name) => (Object.hasOwn(loaders, name) ? loaders[name]?.() : undefined),
  };
}
