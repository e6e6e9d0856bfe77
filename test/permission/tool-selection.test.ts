import { expect, test } from "bun:test";
import { createWithheld } from "../../src/permission/tool-selection.ts";

const known = ["read", "bash", "edit", "write", "grep", "find", "ls"];
const all = { readOnly: false, tools: undefined, excludeTools: [] };
const reading = ["read", "grep", "find", "ls"];
const reads = (name: string) => name === "mcp__git__log";

function offered(selection: Parameters<typeof createWithheld>[0]): string[] {
  const withheld = createWithheld(selection, known);
  return [...known, "mcp__git__log", "mcp__web__get"].filter((name) => withheld(name) === undefined);
}

test.each([
  ["--read-only", { ...all, readOnly: true }, reading],
  [
    "--read-only, with a server's tool that only reads",
    { ...all, readOnly: true, reads },
    [...reading, "mcp__git__log"],
  ],
  ["--tools", { ...all, tools: ["read", "bash"] }, ["read", "bash"]],
  ["--tools with nothing", { ...all, tools: [] }, []],
  [
    "--exclude-tools",
    { ...all, excludeTools: ["bash", "mcp__web__*"] },
    ["read", "edit", "write", "grep", "find", "ls", "mcp__git__log"],
  ],
  ["a wildcard", { ...all, tools: ["mcp__git__*", "read"] }, ["read", "mcp__git__log"]],
  ["a wildcard among our own", { ...all, tools: ["*e*"], excludeTools: ["mcp__*"] }, ["read", "edit", "write", "grep"]],
  [
    "changes to all",
    { ...all, tools: ["+grep", "-write", "-mcp__web__get"] },
    ["read", "bash", "edit", "grep", "find", "ls", "mcp__git__log"],
  ],
  [
    "the last change of a tool",
    { ...all, tools: ["-ls", "+ls", "+bash", "-bash"], excludeTools: ["mcp__*"] },
    known.filter((name) => name !== "bash"),
  ],
  ["tools that only pi has", { ...all, tools: ["read", "codemode"], excludeTools: ["powershell"] }, ["read"]],
  ["both", { ...all, tools: ["read", "bash"], excludeTools: ["bash"] }, ["read"]],
  ["all three", { readOnly: true, tools: ["read", "bash", "ls"], excludeTools: ["ls"] }, ["read"]],
])("%s", (_, selection, names) => {
  expect(offered(selection)).toEqual(names);
});

test("an unknown name is an error that names the known ones", () => {
  expect(() => createWithheld({ ...all, tools: ["bsh"] }, known)).toThrow("--tools: there is no tool 'bsh'");
  expect(() => createWithheld({ ...all, excludeTools: ["web"] }, known)).toThrow(
    "--exclude-tools: there is no tool 'web'",
  );
  expect(() => createWithheld({ ...all, tools: ["b*h*x"] }, known)).toThrow("there is no tool 'b*h*x'");
  expect(() => createWithheld({ ...all, tools: ["-bsh"] }, known)).toThrow("there is no tool 'bsh'");
  expect(() => createWithheld({ ...all, tools: ["+bsh"] }, known)).toThrow("there is no tool 'bsh'");
});

test("changes and names exclude each other", () => {
  expect(() => createWithheld({ ...all, tools: ["read", "-bash"] }, known)).toThrow("exclude each other");
});
