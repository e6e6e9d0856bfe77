// What is said of a prompt that has changed, and that the session's reader gets the prompt in force from it.
import { expect, test } from "bun:test";
import { systemChange } from "../../src/app/system-prompt.ts";
import type { SystemMessage } from "../../src/protocol/message.ts";
import { currentSystem } from "../../src/protocol/tree.ts";

const tool = (name: string, description = "") => ({ name, description, parameters: {} });
const told: SystemMessage = {
  role: "system",
  content: "",
  sections: { preamble: "You are.", tools: "a, b", servers: "Ask." },
  toolsAdded: [tool("a"), tool("b"), tool("c")],
  timestamp: 1,
};

test("the same prompt and tools are not announced again, whatever the order of the tools", () => {
  expect(systemChange(told, { ...told, timestamp: 2 })).toBeUndefined();
  expect(systemChange(told, { ...told, toolsAdded: told.toolsAdded?.toReversed() })).toBeUndefined();
});

test("what is new, other or gone is named, and nothing else; together they are the prompt in force", () => {
  const next: SystemMessage = {
    ...told,
    sections: { preamble: "You are.", tools: "a, b, d" },
    toolsAdded: [tool("a"), tool("b", "other"), tool("d")],
    timestamp: 2,
  };
  const change = systemChange(told, next);
  expect(change).toEqual({
    role: "system",
    content: "",
    sections: { tools: "a, b, d", servers: null },
    toolsAdded: [tool("b", "other"), tool("d")],
    toolsRemoved: [{ name: "c" }],
    timestamp: 2,
  });
  const current = currentSystem([told, change as SystemMessage]) as SystemMessage;
  expect(current.sections).toEqual({ preamble: "You are.", tools: "a, b, d", servers: null });
  expect(current.toolsAdded?.map(({ name }) => name).sort()).toEqual(["a", "b", "d"]);
  expect(systemChange(current, next)).toBeUndefined();
});
