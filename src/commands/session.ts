// `/session`: which session this is, and what has come together in it.
import { dollars, grouped } from "../util/numbers.ts";
import { plural } from "../util/plural.ts";
import type { Command } from "./command.ts";

export const session: Command = {
  name: "session",
  summary: "Show the session's id, file, messages, tokens and cost",
  run({ app }) {
    const current = app.session();
    const roles = current.entries().flatMap((entry) => (entry.type === "message" ? [entry.message.role] : []));
    const count = (role: string) => roles.filter((each) => each === role).length;
    const counts = [plural(count("assistant"), "answer"), plural(count("toolResult"), "tool result")];
    const messages = `${count("user")} of yours, ${counts.join(", ")}`;
    const { total } = app.usage();
    const rows = [
      ["id", current.id],
      ["name", current.name()],
      ["file", current.stored() ? current.path : current.path && "none before the first message"],
      ["messages", messages],
      ["tokens", grouped(total.totalTokens)],
      ["cost", dollars(total.cost.total) ?? "unknown"],
    ] as const;
    const stored = current.path === undefined ? ["It is not stored; /save does that."] : [];
    const lines = rows.flatMap(([name, value]) => (value === undefined ? [] : [`${name.padEnd(8)}  ${value}`]));
    return { text: [...lines, ...stored].join("\n") };
  },
};
