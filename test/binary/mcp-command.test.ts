// `pi-ts mcp`: list, add, remove and check, with the compiled binary.
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { startMcpHttpServer } from "../helpers/mcp-http-server.ts";
import { call, fromServers, runWithServers, writeConfig } from "../helpers/mcp-run.ts";
import { mcpServer, pidsIn } from "../helpers/mcp-server.ts";
import { runCli } from "../helpers/run-cli.ts";
import { tmp } from "../helpers/tmp.ts";

// Several programs each, on a machine that may be busy.
setDefaultTimeout(20_000);

const echo = { name: "echo" };

/** Runs `pi-ts mcp` in a home. */
function mcp(home: string, words: readonly string[], env: Record<string, string> = {}) {
  return runCli(["mcp", ...words], { home, env });
}

const records = (stdout: string) =>
  stdout
    .trimEnd()
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));

describe("add", () => {
  test("makes a server that the next run has, and remove takes it away again", async () => {
    await using dir = tmp();
    const { command, args } = mcpServer({ tools: [echo] });
    const added = await mcp(dir.path, ["add", "mine", "--env", "MODE=a=b", "--", command, ...args]);
    expect(added.code).toBe(0);
    const file = dir.file(".pi-ts/config.toml");
    expect(Bun.TOML.parse(readFileSync(file, "utf8"))).toEqual({
      mcp: { mine: { command, args, env: { MODE: "a=b" } } },
    });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const checked = await mcp(dir.path, ["check", "--json"]);
    expect(records(checked.stdout)).toMatchObject([{ name: "mine", state: "ready" }]);
    const removed = await mcp(dir.path, ["remove", "mine"]);
    expect(removed.code).toBe(0);
    expect(Bun.TOML.parse(readFileSync(file, "utf8"))).toEqual({});
  });

  test("leaves every other byte of config.toml as it was, and so does remove", async () => {
    await using dir = tmp();
    mkdirSync(dir.file(".pi-ts"));
    const file = dir.file(".pi-ts/config.toml");
    const text =
      '# mine\nprovider = "kimi"  # yes\n\n[mcp.old] # keep\ncommand = "x"\n\n# about permissions\n[permissions]\nallow = ["read"]\n';
    writeFileSync(file, text);
    await mcp(
      dir.path,
      ["add", "docs", "--url", "http://127.0.0.1:1/mcp", "--header", "x-team: red", "--bearer-token-env", "DOCS_TOKEN"],
      { DOCS_TOKEN: "t" },
    );
    const after = readFileSync(file, "utf8");
    expect(after).toStartWith(text);
    expect(Bun.TOML.parse(after)).toMatchObject({
      mcp: { docs: { url: "http://127.0.0.1:1/mcp", headers: { "x-team": "red" }, bearer_token_env: "DOCS_TOKEN" } },
    });
    await mcp(dir.path, ["remove", "docs"]);
    expect(readFileSync(file, "utf8").trimEnd()).toBe(text.trimEnd());
    await mcp(dir.path, ["remove", "old"]);
    expect(readFileSync(file, "utf8")).toContain("# about permissions\n[permissions]");
    expect(Bun.TOML.parse(readFileSync(file, "utf8"))).toEqual({ provider: "kimi", permissions: { allow: ["read"] } });
  });

  test("says what is wrong with a server as it is now", async () => {
    await using dir = tmp();
    const { code, stderr } = await mcp(dir.path, ["add", "x", "--", "npx -y thing"]);
    expect(code).toBe(0);
    expect(stderr).toContain("its command is a whole line");
  });

  test.each([
    ["without a name", ["add"], "needs a name"],
    ["without a program or a url", ["add", "x"], "needs a program or a --url"],
    ["with both", ["add", "x", "--url", "http://127.0.0.1:1", "--", "y"], "--url or a program"],
    ["of a name that is taken", ["add", "taken", "--", "y"], "already"],
    ["of a header for a program", ["add", "x", "--header", "a: b", "--", "y"], "--header"],
  ])("%s is a wrong usage and changes nothing", async (_, words, message) => {
    await using dir = tmp();
    writeConfig(dir.path, { taken: { command: "x" } });
    const before = readFileSync(dir.file(".pi-ts/config.toml"), "utf8");
    const { code, stderr } = await mcp(dir.path, words);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
    expect(readFileSync(dir.file(".pi-ts/config.toml"), "utf8")).toBe(before);
  });

  test("takes no part of the config file that is wrong already", async () => {
    await using dir = tmp();
    mkdirSync(dir.file(".pi-ts"));
    writeFileSync(dir.file(".pi-ts/config.toml"), "provider = \n");
    const { code, stderr } = await mcp(dir.path, ["add", "x", "--", "y"]);
    expect(code).toBe(2);
    expect(stderr).toContain("config.toml:1");
    expect(readFileSync(dir.file(".pi-ts/config.toml"), "utf8")).toBe("provider = \n");
  });
});

test("remove of a server that there is not is a wrong usage", async () => {
  await using dir = tmp();
  const { code, stderr } = await mcp(dir.path, ["remove", "nobody"]);
  expect(code).toBe(2);
  expect(stderr).toContain("nobody");
});

describe("list", () => {
  test("names every server and its source without starting one, and hides what came from the environment", async () => {
    await using dir = tmp();
    const pidFile = dir.file("pid");
    writeConfig(dir.path, {
      local: { ...mcpServer({ pidFile, tools: [echo] }), required: true },
      off: { command: "x", args: ["--token", "${SECRET}"], enabled: false },
      web: { url: "http://127.0.0.1:1/mcp" },
      wrong: {},
    });
    const env = { SECRET: "secret-0123456789" };
    const { stdout, code } = await mcp(dir.path, ["list"], env);
    expect(code).toBe(0);
    for (const part of [
      "local",
      "off",
      "disabled",
      "required",
      "http://127.0.0.1:1/mcp",
      "neither a command nor a url",
      "config.toml",
    ])
      expect(stdout).toContain(part);
    const json = await mcp(dir.path, ["list", "--json"], env);
    expect(records(json.stdout)).toMatchObject([
      { name: "local", transport: "stdio", enabled: true, required: true, scope: "user" },
      { name: "off", enabled: false },
      { name: "web", transport: "http", url: "http://127.0.0.1:1/mcp" },
      { name: "wrong", error: expect.any(String) },
    ]);
    expect(`${stdout}${json.stdout}`).not.toContain(env.SECRET);
    expect(existsSync(pidFile)).toBe(false);
  });

  test("without any server says how to add one", async () => {
    await using dir = tmp();
    const { stdout, stderr, code } = await mcp(dir.path, ["list"]);
    expect({ stdout, code }).toEqual({ stdout: "", code: 0 });
    expect(stderr).toContain("pi-ts mcp add");
  });
});

describe("check", () => {
  test("connects to all, prints their state, tools and errors, and exits with 1 when one fails", async () => {
    await using dir = tmp();
    await using web = startMcpHttpServer({ tools: [{ name: "search" }] });
    writeConfig(dir.path, {
      good: mcpServer({ tools: [echo, { name: "a.b" }], prompts: [{ name: "greet", text: "Hello" }] }),
      web: { url: web.url },
      broken: mcpServer({ stderr: ["Cannot find module 'left-pad'"], exitCode: 1 }),
      off: { command: "x", enabled: false },
    });
    const { stdout, code } = await mcp(dir.path, ["check"]);
    expect(code).toBe(1);
    for (const part of [
      "good: ready, 2 tools, 1 prompt",
      "mcp__good__echo",
      "a.b",
      "web: ready, 1 tool",
      "mcp__web__search",
      "broken: failed",
      "left-pad",
      "off: disabled",
    ])
      expect(stdout).toContain(part);
    const json = await mcp(dir.path, ["check", "--json"]);
    expect(json.code).toBe(1);
    const byName = Object.fromEntries(records(json.stdout).map((record) => [record.name, record]));
    expect(byName.good).toMatchObject({ state: "ready" });
    expect(byName.good.tools.map(({ name }: { name: string }) => name).sort()).toEqual(["a.b", "echo"]);
    expect(byName.broken).toMatchObject({ state: "failed", error: expect.stringContaining("left-pad") });
    expect(byName.off).toMatchObject({ state: "disabled" });
  });

  test("of named servers leaves the others alone and exits with 0 when they work", async () => {
    await using dir = tmp();
    const pidFile = dir.file("pid");
    writeConfig(dir.path, { good: mcpServer({ tools: [echo] }), other: mcpServer({ pidFile, exitCode: 1 }) });
    const { stdout, code } = await mcp(dir.path, ["check", "good"]);
    expect(code).toBe(0);
    expect(stdout).toContain("good: ready");
    expect(pidsIn(pidFile)).toEqual([]);
    const unknown = await mcp(dir.path, ["check", "goood"]);
    expect(unknown.code).toBe(2);
    expect(unknown.stderr).toContain("Did you mean good?");
  });

  test("shows what a server says with control characters made visible on a terminal only", async () => {
    await using dir = tmp();
    writeConfig(dir.path, { bad: mcpServer({ stderr: ["\u001b[2Kall is well"], exitCode: 1 }) });
    const { stdout } = await mcp(dir.path, ["check", "--json"]);
    expect(stdout).not.toContain("\u001b");
  });
});

test("what `mcp add` prints as an example has the form that works", async () => {
  await using dir = tmp();
  const { stderr } = await mcp(dir.path, ["add"]);
  expect(stderr).toContain("pi-ts mcp add files -- npx");
});

test("the names that check prints are those that the model gets", async () => {
  const servers = { s: mcpServer({ tools: [{ name: "a.b" }, { name: "x".repeat(80) }] }) };
  await using dir = tmp();
  writeConfig(dir.path, servers);
  const { stdout } = await mcp(dir.path, ["check", "--json"]);
  const { offered } = await runWithServers({ servers, turns: [[call("ls")]] });
  const [record] = records(stdout);
  expect(record.tools.map(({ offeredAs }: { offeredAs: string }) => offeredAs)).toEqual(fromServers(offered));
});
