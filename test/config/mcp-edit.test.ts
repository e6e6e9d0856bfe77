import { describe, expect, test } from "bun:test";
import { addMcpServer, removeMcpServer } from "../../src/config/mcp-edit.ts";

const own = `# my file
provider = "kimi" # yes

[mcp.files]
command = "npx"
args = [
  "-y", # [not a table]
  "x",
]

[mcp.files.env]
A = "b"

# about the rules
[permissions]
allow = ["read"]
`;

describe("a server that is added", () => {
  test.each([
    ["", ""],
    ["no line end", 'a = "b"'],
    ["a line end", 'a = "b"\n'],
    ["blank lines", 'a = "b"\n\n'],
    ["tables", own],
  ])("stands at the end of a text with %s, which stays as it is", (_, text) => {
    const after = addMcpServer(text, "new", { command: "x", args: ["-y"], env: {}, url: undefined });
    expect(after).toStartWith(text);
    expect(after).toEndWith('[mcp.new]\ncommand = "x"\nargs = ["-y"]\n');
    expect(Bun.TOML.parse(after)).toMatchObject({
      ...Bun.TOML.parse(text),
      mcp: { new: { command: "x", args: ["-y"] } },
    });
  });

  test.each(["my server", "a.b", 'quo"te', "größe", "", "a]b", "a#b"])("may be called %j", (name) => {
    const after = addMcpServer(own, name, { command: "x" });
    expect(Bun.TOML.parse(after)).toMatchObject({ mcp: { [name]: { command: "x" } } });
    expect(Bun.TOML.parse(removeMcpServer(after, name))).toEqual(Bun.TOML.parse(own));
  });

  test("keeps every character of its words", () => {
    const args = ['"', "\\", "\n\t", "\u007f\u0001", "$HOME ${X}", "🌍", "'''", '"""', "\u2028"];
    const table = { command: "x", args, env: { "a-b": "c", "a b": "d" } };
    expect(Bun.TOML.parse(addMcpServer("", "s", table))).toEqual({ mcp: { s: table } });
  });

  test("cannot have a name that is taken", () => {
    expect(() => addMcpServer(own, "files", { command: "x" })).toThrow("There is a server files already");
  });

  test("cannot be added to a text where that would change something else", () => {
    expect(() => addMcpServer('mcp = { a = { command = "x" } }\n', "b", { command: "y" })).toThrow("cannot be added");
  });
});

describe("a server that is removed", () => {
  test("takes its tables and their comments inside along, and nothing else", () => {
    expect(removeMcpServer(own, "files")).toBe(
      '# my file\nprovider = "kimi" # yes\n\n# about the rules\n[permissions]\nallow = ["read"]\n',
    );
  });

  test("is the one of this name alone", () => {
    const text = '[mcp.a]\ncommand = "x"\n[mcp.ab]\ncommand = "y"\n[mcp."a.b"]\ncommand = "z"\n';
    expect(removeMcpServer(text, "a")).toBe('[mcp.ab]\ncommand = "y"\n[mcp."a.b"]\ncommand = "z"\n');
  });

  test("has to be there", () => {
    expect(() => removeMcpServer(own, "nobody")).toThrow("There is no server nobody");
  });

  test.each(['[mcp]\na = { command = "x" }\n', 'mcp.a.command = "x"\n', 'mcp = { a = { command = "x" } }\n'])(
    "is left to the user's hand where it is written in another way: %j",
    (text) => {
      expect(() => removeMcpServer(text, "a")).toThrow("not a table of its own");
    },
  );
});
