// The gate of the compiled binary where nobody can be asked.
import { expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, renameSync, rmdirSync, symlinkSync, writeFileSync } from "node:fs";
import { startReplayServer } from "../helpers/replay-server.ts";
import { runCli, startCli } from "../helpers/run-cli.ts";
import { tmp } from "../helpers/tmp.ts";

type Call = { name: string; arguments: Record<string, unknown> };

/** Lets the model make one call, `before` which something may happen, and answer; gives the run's result and what the model was told. */
async function runCall(call: Call, cwd: string, flags: string[] = [], home?: string, before?: () => void) {
  await using server = await startReplayServer((_request, position) => {
    if (position > 0) return { turn: { text: "ok" } };
    before?.();
    return { turn: { calls: [{ id: "c", ...call }] } };
  });
  const env = { PI_PROVIDER: "openai", OPENAI_API_KEY: "sk-0123456789abcdef", PI_BASE_URL: server.url };
  const result = await runCli(["-p", ...flags, "go"], { env, cwd, ...(home === undefined ? {} : { home }) });
  const offered: string[] = (server.requests[0]?.body.tools ?? []).map(
    (tool: { function: { name: string } }) => tool.function.name,
  );
  return { ...result, offered, told: server.requests[1]?.body.messages.at(-1).content as string };
}

const bash = (command: string): Call => ({ name: "bash", arguments: { command } });

test("a command is denied at once, said to the model and on stderr with the rule that allows it, and listed at the end", async () => {
  await using dir = tmp();
  const result = await runCall(bash("touch 'it is' made"), dir.path);
  expect(existsSync(dir.file("made"))).toBe(false);
  expect(result.told).toStartWith("Error: denied: bash was not approved");
  expect(result.stderr).toContain("denied: bash touch 'it is' made");
  expect(result.stderr).toContain(`--allow 'bash(touch '\\''it is'\\'' made)' allows it`);
  expect(result.stderr).toEndWith("warning: denied: bash touch 'it is' made\n");
  expect(result.code).toBe(0);
});

test("a denial is told once when it happens and once at the end, whoever denied it", async () => {
  await using dir = tmp();
  const denials = (text: string) => text.split("\n").filter((line) => line.includes("denied"));
  const unasked = await runCall(bash("touch made"), dir.path);
  expect(denials(unasked.stderr)).toEqual(["denied: bash touch made", "warning: denied: bash touch made"]);
  const ruled = await runCall(bash("touch made"), dir.path, ["--deny", "bash(touch *)"]);
  expect(denials(ruled.stderr)).toEqual([
    expect.stringContaining("✗ Error: denied: the rule bash(touch *) from --deny forbids this"),
    "warning: denied: bash touch made",
  ]);
});

test("the rule that a denial names does allow the call", async () => {
  await using dir = tmp();
  const denied = await runCall(bash("touch 'it is' made"), dir.path);
  const flag = /--allow '.*'(?= allows it)/.exec(denied.stderr)?.[0];
  const words = Bun.spawnSync(["sh", "-c", `printf '%s\\0' ${flag}`])
    .stdout.toString()
    .split("\0")
    .slice(0, -1);
  await runCall(bash("touch 'it is' made"), dir.path, words);
  expect(existsSync(dir.file("made"))).toBe(true);
});

test("of a command that no rule can hold the denial names what would allow it, the narrower first", async () => {
  await using dir = tmp();
  const result = await runCall(bash("touch made\u001b[2K; ls\nallowed: all is well"), dir.path);
  expect(result.stderr).toContain("touch made␛[2K; ls\n    allowed: all is well");
  expect(result.stderr).toContain("--allow 'bash' allows every call of it, --yolo everything");
});

test("a silent stdin that stays open is nobody to ask", async () => {
  await using dir = tmp();
  await using server = await startReplayServer([
    { turn: { calls: [{ id: "c", ...bash("touch made") }] } },
    { turn: { text: "ok" } },
  ]);
  const env = { PI_PROVIDER: "openai", OPENAI_API_KEY: "sk-0123456789abcdef", PI_BASE_URL: server.url };
  await using cli = startCli(["-p", "go"], { env, cwd: dir.path, stdin: "open" });
  const result = await cli.exited;
  expect(result.stderr).toContain("denied: bash touch made");
  expect(result.code).toBe(0);
  expect(existsSync(dir.file("made"))).toBe(false);
});

test.each(["y\n", "Y\r\n", "yes\n", ""])("piped text %p is part of the task, never an answer", async (text) => {
  await using dir = tmp();
  await using server = await startReplayServer([
    { turn: { calls: [{ id: "c", ...bash("touch made") }] } },
    { turn: { text: "ok" } },
  ]);
  const env = { PI_PROVIDER: "openai", OPENAI_API_KEY: "sk-0123456789abcdef", PI_BASE_URL: server.url };
  await runCli(["-p", "go"], { env, cwd: dir.path, stdin: { text } });
  expect(existsSync(dir.file("made"))).toBe(false);
});

test.each([
  ["itself", "touch made", true],
  ["behind another command", "touch made; touch pwned", false],
  ["behind a line break", "touch made\ntouch pwned", false],
  ["with a substitution", "touch made $(touch pwned)", false],
  ["with a redirection", "touch made > pwned", false],
])("a rule allows the command %s: %j %p", async (_, command, allowed) => {
  await using dir = tmp();
  await runCall(bash(command), dir.path, ["--allow", "read", "--allow", "bash(touch *)"]);
  expect(existsSync(dir.file("made"))).toBe(allowed);
  expect(existsSync(dir.file("pwned"))).toBe(false);
});

test("a deny rule wins over --yolo and over an allow rule", async () => {
  await using dir = tmp();
  const flags = ["--yolo", "--allow", "bash", "--deny", "bash(touch)"];
  const result = await runCall(bash("ls && /usr/bin/touch made"), dir.path, flags);
  expect(existsSync(dir.file("made"))).toBe(false);
  expect(result.told).toContain("the rule bash(touch) from --deny forbids this");
  expect(result.stderr).toContain("warning: denied: bash ls && /usr/bin/touch made");
});

test("config.toml holds rules too, and they count together with those of flags", async () => {
  await using dir = tmp();
  mkdirSync(dir.file(".pi-ts"));
  writeFileSync(
    dir.file(".pi-ts/config.toml"),
    '[permissions]\nallow = ["bash(touch *)"]\ndeny = ["bash(touch pwned)"]\n',
  );
  mkdirSync(dir.file("work"));
  await runCall(bash("touch made"), dir.file("work"), [], dir.path);
  expect(existsSync(dir.file("work/made"))).toBe(true);
  const result = await runCall(bash("touch pwned"), dir.file("work"), ["--allow", "bash"], dir.path);
  expect(existsSync(dir.file("work/pwned"))).toBe(false);
  expect(result.told).toContain(`from ${dir.file(".pi-ts/config.toml")}`);
});

test("what may not be read is not shown by a search, and the model is told that something is left out", async () => {
  await using dir = tmp();
  writeFileSync(dir.file("keys.txt"), "token=abc\n");
  writeFileSync(dir.file("open.txt"), "token=none\n");
  const grep = (args: object): Call => ({ name: "grep", arguments: { pattern: "token", ...args } });
  const deny = ["--deny", "read(keys.txt)"];
  const walked = await runCall(grep({}), dir.path, deny);
  expect(walked.told).toBe("open.txt:1: token=none\n... 1 path is denied by a rule");
  const named = await runCall(grep({ path: "keys.txt" }), dir.path, ["--yolo", ...deny]);
  expect(named.told).toContain("the rule read(keys.txt) from --deny forbids this");
});

test.each([
  ["the text it is near to", "secret", { old_string: "password = hunter3" }],
  ["that a text is there", "secret", { old_string: "password" }],
  ["what is beside it", "secrets", { old_string: "x" }],
  ["that it is a file", "secret/x", { old_string: "x" }],
])("an edit outside that nobody allows tells nothing of what is there: %s", async (_, name, args) => {
  await using dir = tmp();
  await using outside = tmp();
  writeFileSync(outside.file("secret"), "password = hunter2\n");
  const path = outside.file(name);
  const { told } = await runCall({ name: "edit", arguments: { path, new_string: "y", ...args } }, dir.path);
  expect(told).toBe(
    `Error: denied: edit was not approved (outside the working directory: ${path}), and nobody can be asked in this run. Go on without it, or say what you need`,
  );
});

test("a path that cannot be followed is one clear line", async () => {
  await using dir = tmp();
  symlinkSync("loop", dir.file("loop"));
  const read = await runCall({ name: "read", arguments: { path: "loop/x" } }, dir.path);
  expect(read.told).toBe("Error: cannot read loop/x: too many symbolic links");
  const write = await runCall({ name: "write", arguments: { path: "loop/x", content: "" } }, dir.path);
  expect(write.told).toBe("Error: cannot write loop/x: too many symbolic links");
  const nul = await runCall({ name: "read", arguments: { path: "a\0b" } }, dir.path);
  expect(nul.told).toBe("Error: a path cannot contain a NUL character");
});

test("--read-only offers only tools that read, and denies the others even with --yolo", async () => {
  await using dir = tmp();
  const result = await runCall({ name: "write", arguments: { path: "x", content: "x" } }, dir.path, [
    "--read-only",
    "--yolo",
  ]);
  expect(existsSync(dir.file("x"))).toBe(false);
  expect(result.told).toContain("write is not available in this run (--read-only)");
  expect(result.offered).toContain("read");
  for (const name of ["bash", "edit", "write"]) expect(result.offered).not.toContain(name);
});

test("--tools and --exclude-tools choose what is offered", async () => {
  await using dir = tmp();
  const only = await runCall(bash("ls"), dir.path, ["--tools", "read,write"]);
  expect(only.offered.toSorted()).toEqual(["read", "write"]);
  expect(only.told).toContain("bash is not available in this run");
  const without = await runCall(bash("ls"), dir.path, ["--exclude-tools", "bash"]);
  expect(without.offered).not.toContain("bash");
});

test.each([
  [["--tools", "read,bsh"], "--tools: there is no tool 'bsh'"],
  [["--exclude-tools", "nothing"], "Known: "],
  [["--tools", ","], "--tools names no tool"],
  [["--tools", ""], "--tools names no tool"],
  [["--exclude-tools", " , "], "--exclude-tools names no tool"],
  [["--allow", "bash(ls; rm)"], "--allow: the rule 'bash(ls; rm)' cannot be used"],
  [["--deny", "basch"], "Did you mean bash?"],
  [["--sandbox-net"], "Add --sandbox"],
])("%j is an error in usage", async (flags, message) => {
  const result = await runCli(["-p", ...flags, "go"], { env: { OPENAI_API_KEY: "k", PI_PROVIDER: "openai" } });
  expect(result.stderr).toContain(message);
  expect(result.code).toBe(2);
});

test("a rule in config.toml that cannot be used is an error that names file, line and key", async () => {
  await using dir = tmp();
  mkdirSync(dir.file(".pi-ts"));
  writeFileSync(dir.file(".pi-ts/config.toml"), '[permissions]\ndeny = ["rm"]\n');
  const result = await runCli(["-p", "go"], { env: { OPENAI_API_KEY: "k", PI_PROVIDER: "openai" }, home: dir.path });
  expect(result.stderr).toContain(
    `${dir.file(".pi-ts/config.toml")}:2, permissions.deny: the rule 'rm' cannot be used: there is no tool 'rm'`,
  );
  expect(result.code).toBe(2);
});

test("--yolo runs it", async () => {
  await using dir = tmp();
  const result = await runCall({ name: "bash", arguments: { command: "touch made" } }, dir.path, ["--yolo"]);
  expect(existsSync(dir.file("made"))).toBe(true);
  expect(result.code).toBe(0);
});

test.each([
  ["write", { path: "a.txt", content: "new" }],
  ["read", { path: "a.txt" }],
])(
  "a link that takes the place of the working directory during the run leads outside of it for %s",
  async (name, args) => {
    await using dir = tmp();
    for (const folder of ["project", "other"]) mkdirSync(dir.file(folder));
    writeFileSync(dir.file("other/a.txt"), "old");
    const result = await runCall({ name, arguments: args }, dir.file("project"), [], undefined, () => {
      renameSync(dir.file("project"), dir.file("moved"));
      symlinkSync("other", dir.file("project"));
    });
    expect(result.told).toContain(`denied: ${name} was not approved`);
    expect(result.told).toContain(`outside the working directory: ${dir.file("other/a.txt")}`);
    expect(readFileSync(dir.file("other/a.txt"), "utf8")).toBe("old");
  },
);

test.each([
  ["read", { path: "a.txt" }, "Error: a.txt does not exist"],
  ["bash", { command: "pwd" }, "Error: denied: bash was not approved"],
])("a working directory that goes away during the run is no bug of %s", async (name, args, told) => {
  await using dir = tmp();
  mkdirSync(dir.file("project"));
  const result = await runCall({ name, arguments: args }, dir.file("project"), [], undefined, () => {
    rmdirSync(dir.file("project"));
  });
  expect(result.told).toStartWith(told);
  expect(result.stderr).not.toContain("in a way it should not");
});

test("files inside the working directory need no approval", async () => {
  await using dir = tmp();
  await runCall({ name: "write", arguments: { path: "in/side.txt", content: "x" } }, dir.path);
  expect(readFileSync(dir.file("in/side.txt"), "utf8")).toBe("x");
});

test.each([
  ["a way up", "../outside.txt"],
  ["a folder that begins with the same name", "../work-evil/x.txt"],
  ["a link to a folder", "out/new.txt"],
  ["a link to a file", "victim"],
  ["a dangling link", "dangling"],
  ["the home directory", "~/x.txt"],
])("%s leads outside and is denied, with the real path shown", async (_name, path) => {
  await using dir = tmp();
  for (const folder of ["work", "outside", "work-evil"]) mkdirSync(dir.file(folder));
  writeFileSync(dir.file("outside/victim.txt"), "precious");
  symlinkSync(dir.file("outside"), dir.file("work/out"));
  symlinkSync(dir.file("outside/victim.txt"), dir.file("work/victim"));
  symlinkSync(dir.file("outside/new-file.txt"), dir.file("work/dangling"));
  const result = await runCall({ name: "write", arguments: { path, content: "pwned" } }, dir.file("work"));
  expect(result.told).toContain("outside the working directory");
  expect(result.stderr).toContain("denied: write");
  expect(readFileSync(dir.file("outside/victim.txt"), "utf8")).toBe("precious");
  expect(existsSync(dir.file("outside/new-file.txt"))).toBe(false);
  expect(existsSync(dir.file("outside/new.txt"))).toBe(false);
});

test("commands do not see provider keys", async () => {
  await using dir = tmp();
  const result = await runCall({ name: "bash", arguments: { command: "env" } }, dir.path, ["--yolo"]);
  expect(result.told).toContain("PI_TS=1");
  expect(result.told).not.toContain("OPENAI_API_KEY");
});
