// Where the MCP servers of a run come from, and what a wrong configuration says.
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { call, fromServers, runWithServers } from "../helpers/mcp-run.ts";
import { mcpServer, pidsIn } from "../helpers/mcp-server.ts";
import { startPty } from "../helpers/pty.ts";
import { startReplayServer } from "../helpers/replay-server.ts";
import { runCli } from "../helpers/run-cli.ts";
import { type TmpDir, tmp } from "../helpers/tmp.ts";
import { waitUntil } from "../helpers/wait-until.ts";
import { chatWire, reach } from "../helpers/wire.ts";

// Several programs each, on a machine that may be busy.
setDefaultTimeout(20_000);

const echo = { name: "echo" };
const json = (servers: object) => JSON.stringify({ mcpServers: servers });

/** A repository whose `.mcp.json` names a server that leaves its mark in `pid`. */
function createRepository(dir: TmpDir): { readonly cwd: string; readonly file: string; readonly mark: string } {
  mkdirSync(dir.file("repo/.git"), { recursive: true });
  mkdirSync(dir.file("repo/sub"));
  const [file, mark] = [dir.file("repo/.mcp.json"), dir.file("pid")];
  writeFileSync(file, json({ theirs: { type: "stdio", ...mcpServer({ pidFile: mark, tools: [echo] }) } }));
  return { cwd: dir.file("repo/sub"), file, mark };
}

describe("a project's .mcp.json", () => {
  test("starts nothing by itself, and one notice names it and the flag", async () => {
    await using dir = tmp();
    const { cwd, file, mark } = createRepository(dir);
    const { stderr, offered, code } = await runWithServers({ cwd });
    expect(code).toBe(0);
    expect(fromServers(offered)).toEqual([]);
    expect(existsSync(mark)).toBe(false);
    expect(stderr.split(file)).toHaveLength(2);
    expect(stderr).toContain("--trust-project");
  });

  test("starts nothing with `mcp check` either, whatever is on stdin", async () => {
    await using dir = tmp();
    const { cwd, mark } = createRepository(dir);
    await runCli(["mcp", "check"], { cwd, stdin: { text: "y\n" } });
    expect(existsSync(mark)).toBe(false);
  });

  test("counts in a run with --trust-project, which says so", async () => {
    await using dir = tmp();
    const { cwd, file, mark } = createRepository(dir);
    const { stderr, told } = await runWithServers({
      cwd,
      flags: ["-p", "--yolo", "--trust-project"],
      turns: [[call("mcp__theirs__echo")]],
    });
    expect(told).toEqual(["echo {}"]);
    expect(pidsIn(mark)).toHaveLength(1);
    expect(stderr).toContain(`in force: ${file}`);
  });

  test("is shown and asked for once in a terminal, and counts from then on", async () => {
    await using dir = tmp();
    const { cwd, file, mark } = createRepository(dir);
    await using model = await startReplayServer([{ turn: { text: "Hello." } }]);
    await using pty = await startPty([], { cwd, home: dir.path, env: reach(chatWire, model.url), cols: 200 });
    await pty.waitFor(file);
    await pty.waitFor('"theirs"');
    await pty.waitFor("[y/N]");
    expect(existsSync(mark)).toBe(false);
    pty.write("y\r");
    await waitUntil(() => existsSync(mark), "the server has started");
    pty.write("\x04");
    expect(await pty.exited()).toBe(0);
    const { offered } = await runWithServers({ cwd, home: dir.path });
    expect(fromServers(offered)).toEqual(["mcp__theirs__echo"]);
  });

  test("does not take the place of a server of the user's own", async () => {
    await using dir = tmp();
    const { cwd, mark } = createRepository(dir);
    const { told } = await runWithServers({
      cwd,
      servers: {
        theirs: mcpServer({ tools: [{ name: "echo", result: { content: [{ type: "text", text: "mine" }] } }] }),
      },
      flags: ["-p", "--yolo"],
      turns: [[call("mcp__theirs__echo")]],
    });
    expect(told).toEqual(["mine"]);
    expect(existsSync(mark)).toBe(false);
  });

  test("that is no such file is one warning, and the run goes on", async () => {
    await using dir = tmp();
    const { cwd, file } = createRepository(dir);
    writeFileSync(file, "{ not json");
    const { stderr, code } = await runWithServers({ cwd, flags: ["-p", "--trust-project"] });
    expect(code).toBe(0);
    expect(stderr).toContain(file);
    expect(stderr).toContain("not valid JSON");
  });

  test("of which one entry is wrong keeps the others", async () => {
    await using dir = tmp();
    const { cwd, file } = createRepository(dir);
    writeFileSync(
      file,
      json({
        wrong: { command: 7 },
        old: { type: "sse", url: "http://127.0.0.1:1" },
        good: mcpServer({ tools: [echo] }),
      }),
    );
    const { stderr, offered } = await runWithServers({ cwd, flags: ["-p", "--trust-project"] });
    expect(fromServers(offered)).toEqual(["mcp__good__echo"]);
    expect(stderr).toContain("wrong");
    expect(stderr).toContain("sse");
  });
});

test("a project's config.toml starts a server only when it is trusted", async () => {
  await using dir = tmp();
  const mark = dir.file("pid");
  mkdirSync(dir.file("repo/.pi-ts"), { recursive: true });
  const table = mcpServer({ pidFile: mark, tools: [echo] });
  writeFileSync(dir.file("repo/.pi-ts/config.toml"), Bun.TOML.stringify({ mcp: { theirs: table } }));
  await runWithServers({ cwd: dir.file("repo") });
  expect(existsSync(mark)).toBe(false);
  const { offered } = await runWithServers({ cwd: dir.file("repo"), flags: ["-p", "--trust-project"] });
  expect(fromServers(offered)).toEqual(["mcp__theirs__echo"]);
});

describe("--mcp-config", () => {
  test("adds the servers of a file, by its path in any folder, and counts over config.toml", async () => {
    await using dir = tmp();
    const answering = (text: string) =>
      mcpServer({ tools: [{ name: "say", result: { content: [{ type: "text", text }] } }] });
    writeFileSync(dir.file("more.json"), json({ added: answering("added"), both: answering("the flag's") }));
    const { told } = await runWithServers({
      cwd: dir.path,
      servers: { own: answering("own"), both: answering("the file's") },
      flags: ["-p", "--yolo", "--mcp-config", "more.json"],
      turns: [[call("mcp__own__say"), call("mcp__added__say"), call("mcp__both__say")]],
    });
    expect(told).toEqual(["own", "added", "the flag's"]);
  });

  test.each([
    ["that does not exist", undefined, "no.json"],
    ["that is no JSON", "{", "no.json"],
    ["without servers in it", "{}", "mcpServers"],
  ])("with a file %s is an error before anything is begun", async (_, text, named) => {
    await using dir = tmp();
    if (text !== undefined) writeFileSync(dir.file("no.json"), text);
    const { code, stderr, requests } = await runWithServers({
      cwd: dir.path,
      flags: ["-p", "--mcp-config", "no.json"],
    });
    expect(code).toBe(2);
    expect(requests).toHaveLength(0);
    expect(stderr).toContain(named);
  });
});

describe("a wrong table in config.toml", () => {
  test.each([
    ["an unknown key", '[mcp.docs]\ncomand = "x"\n', "unknown key 'mcp.docs.comand'"],
    ["a wrong type", '[mcp.docs]\ncommand = "x"\nargs = "y"\n', "'mcp.docs.args'"],
    ["a negative time", '[mcp.docs]\ncommand = "x"\ncall_timeout = -1\n', "'mcp.docs.call_timeout'"],
  ])("is one error with its line: %s", async (_, text, message) => {
    await using dir = tmp();
    mkdirSync(dir.file(".pi-ts"));
    writeFileSync(dir.file(".pi-ts/config.toml"), text);
    const { code, stderr } = await runCli(["-p", "hi"], { home: dir.path, env: { ANTHROPIC_API_KEY: "sk-x" } });
    expect(code).toBe(2);
    expect(stderr).toContain(message);
    expect(stderr).toMatch(/config\.toml:\d/);
  });

  test("that a server cannot be reached by is one warning of that server, and the others are there", async () => {
    const wrong: Readonly<Record<string, readonly [table: Record<string, unknown>, reason: string]>> = {
      no_way: [{}, "neither a command nor a url"],
      two_ways: [{ command: "x", url: "http://127.0.0.1:1" }, "both a command and a url"],
      a_line: [{ command: "npx -y server" }, "the words behind the program go into args"],
      no_url: [{ url: "docs.example" }, "not an http or https URL"],
      no_value: [{ command: "x", env: { KEY: "${NOT_SET}" } }, "env.KEY: $NOT_SET is not set"],
    };
    const tables = Object.entries(wrong).map(([name, [table]]) => [name, table]);
    const { code, stderr, offered } = await runWithServers({
      servers: { ...Object.fromEntries(tables), good: mcpServer({ tools: [echo] }) },
    });
    expect(code).toBe(0);
    expect(fromServers(offered)).toEqual(["mcp__good__echo"]);
    for (const [name, [, reason]] of Object.entries(wrong)) {
      const line = stderr.split("\n").filter((text) => text.includes(`The MCP server ${name} is left out`));
      expect(line).toEqual([expect.stringContaining(reason)]);
    }
  });
});
