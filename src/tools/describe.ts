// Runs while the program is built: the built-in tools as requests offer them.
import * as z from "zod/mini";
import type { ToolSpec } from "../protocol/message.ts";
import { bash } from "./bash.ts";
import { edit } from "./edit.ts";
import { find } from "./find.ts";
import { grep } from "./grep.ts";
import { ls } from "./ls.ts";
import { read } from "./read.ts";
import { write } from "./write.ts";

export function describeTools(): ToolSpec[] {
  return [read, bash, edit, write, grep, find, ls].map(({ name, description, input }) => {
    const { $schema: _, ...parameters } = z.toJSONSchema(input, { io: "input" });
    return { name, description: description.trim(), parameters };
  });
}
