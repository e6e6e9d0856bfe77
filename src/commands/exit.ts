// `/exit`: the end.
import type { Command } from "./command.ts";

export const exit: Command = {
  name: "exit",
  summary: "Leave (Ctrl-D on an empty line does too)",
  run: () => ({ exit: true }),
};
