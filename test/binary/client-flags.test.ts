// The flags that clients of pi pass, on the compiled binary: what is asked of the model, what is offered, and what is only put up with.
import { describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { readmeBlocks } from "../helpers/readme.ts";
import { binaryPath, type CliOptions, cleanEnv, runCli } from "../helpers/run-cli.ts";
import { scriptedModelsConfig, startScriptedModels } from "../helpers/scripted-models.ts";
import { tmp } from "../helpers/tmp.ts";

/** A home with the scripted models, and a folder to work in. */
async function setUp() {
  const server = await startScriptedModels();
  const dir = tmp();
  mkdirSync(dir.file("home/.pi-ts"), { recursive: true });
  mkdirSync(dir.file("work"));
  writeFileSync(dir.file("home/.pi-ts/config.toml"), scriptedModelsConfig(server));
  const place = { home: dir.file("home"), cwd: dir.file("work") };
  return {
    dir,
    place,
    server,
    run: (args: readonly string[], options: CliOptions = {}) => runCli(args, { ...place, ...options }),
    /** The body of the first request that a prompt with these flags makes. */
    async request(args: readonly string[]) {
      const before = server.requests.length;
      const result = await runCli(["-p", ...args, "--", "hi"], place);
      expect(result).toMatchObject({ code: 0, stdout: "Hello from the mock.\n" });
      return server.requests[before]?.body;
    },
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await dir[Symbol.asyncDispose]();
    },
  };
}

const toolNames = (body: { tools?: { function: { name: string } }[] }) =>
  (body.tools ?? []).map((tool) => tool.function.name);
const systemText = (body: { messages: { content: string }[] }) => body.messages[0]?.content ?? "";

test("--model takes a part of an id, the provider before it, and a thinking level behind it", async () => {
  await using pi = await setUp();
  expect((await pi.request(["--model", "thin"])).model).toBe("think");
  const named = await pi.request(["--provider", "mock", "--model", "think:high"]);
  expect(named).toMatchObject({ model: "think", reasoning_effort: "high" });
  const over = await pi.request(["--model", "mock/think:high", "--thinking", "low"]);
  expect(over).toMatchObject({ model: "think", reasoning_effort: "low" });
  expect((await pi.request(["--model", "mock/unheard-of"])).model).toBe("unheard-of");
  expect(
    await pi.run(["-p", "--model", "4", "hi"], { env: { OPENAI_API_KEY: "k", ANTHROPIC_API_KEY: "k" } }),
  ).toMatchObject({ code: 2, stderr: expect.stringContaining("several providers") });
});

test("--models: the first of them begins", async () => {
  await using pi = await setUp();
  expect((await pi.request(["--models", "think:low,hello"])).model).toBe("think");
  expect((await pi.request(["--models", "think,hello", "--model", "hello"])).model).toBe("hello");
  const unknown = await pi.run(["-p", "--models", "hello,nothing-like-it", "hi"]);
  expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining("'nothing-like-it'") });
});

test.each<[args: string[], tools: string[]]>([
  [
    ["-t", "read,grep"],
    ["read", "grep"],
  ],
  [["--tools", "bash"], ["bash"]],
  [
    ["-xt", "bash,edit,write"],
    ["read", "grep", "find", "ls"],
  ],
  [["-nt"], []],
  [["--no-tools"], []],
  [["-nt", "-t", "ls"], ["ls"]],
  [["-nbt"], []],
  [["--no-builtin-tools", "--no-mcp"], []],
])("%j offers %j", async (args, tools) => {
  await using pi = await setUp();
  expect(toolNames(await pi.request(args))).toEqual(tools);
});

test("--system-prompt and --append-system-prompt take a text or a file", async () => {
  await using pi = await setUp();
  writeFileSync(pi.dir.file("work/AGENTS.md"), "the project's rules");
  writeFileSync(pi.dir.file("work/prompt.txt"), "You are from a file.");
  const text = systemText(
    await pi.request(["--system-prompt", "You are someone else.", "--append-system-prompt", "./prompt.txt"]),
  );
  expect(text).toStartWith("You are someone else.");
  expect(text).not.toContain("You are pi-ts");
  expect(text).toContain("the project's rules");
  expect(text).toEndWith("You are from a file.");
  const two = systemText(
    await pi.request([
      "-nc",
      "--append-system-prompt",
      "one",
      "--append-system-prompt=two",
      "--system-prompt",
      "prompt.txt",
    ]),
  );
  expect(two).toStartWith("You are from a file.");
  expect(two).toEndWith("one\n\ntwo");
  expect(two).not.toContain("the project's rules");
});

test("-a and -na say whether the project's files count, without a question", async () => {
  await using pi = await setUp();
  mkdirSync(pi.dir.file("work/.pi-ts"));
  writeFileSync(pi.dir.file("work/.pi-ts/config.toml"), 'model = "think"\n');
  for (const flag of ["-a", "--approve", "--trust-project"]) expect((await pi.request([flag])).model).toBe("think");
  for (const flag of ["-na", "--no-approve"]) {
    const { stderr, code } = await pi.run(["-p", flag, "hi"]);
    expect({ stderr: stderr.includes("config.toml"), code }).toEqual({ stderr: false, code: 0 });
    expect(pi.server.requests.at(-1)?.body.model).toBe("hello");
  }
});

test("--skill, -ns, --prompt-template and -np", async () => {
  await using pi = await setUp();
  const skill = (name: string) => `---\nname: ${name}\ndescription: knows of ${name}\n---\nDo it.\n`;
  mkdirSync(pi.dir.file("home/.pi-ts/skills/usual"), { recursive: true });
  writeFileSync(pi.dir.file("home/.pi-ts/skills/usual/SKILL.md"), skill("usual"));
  mkdirSync(pi.dir.file("work/given"));
  writeFileSync(pi.dir.file("work/given/SKILL.md"), skill("given"));
  const both = systemText(await pi.request(["--skill", "given"]));
  expect(both).toContain("knows of usual");
  expect(both).toContain("knows of given");
  const one = systemText(await pi.request(["-ns", "--skill", "given"]));
  expect(one).not.toContain("knows of usual");
  expect(one).toContain("knows of given");
  mkdirSync(pi.dir.file("home/.pi-ts/prompts"));
  writeFileSync(pi.dir.file("home/.pi-ts/prompts/usual.md"), "expanded: $1");
  writeFileSync(pi.dir.file("work/own.md"), "own: $1");
  const said = async (args: string[]) => {
    await pi.run(args);
    return JSON.stringify(pi.server.requests.at(-1)?.body.messages.at(-1)?.content);
  };
  expect(await said(["-p", "/usual x"])).toContain("expanded: x");
  expect(await said(["-p", "-np", "--prompt-template", "own.md", "/own y"])).toContain("own: y");
  expect(await said(["-p", "-np", "/usual x"])).toContain("/usual x");
});

test("what has no meaning here is told in one note, and the answer comes all the same", async () => {
  await using pi = await setUp();
  const foreign = [
    "-e",
    "a.ts",
    "--extension=b.ts",
    "-ne",
    "--theme",
    "t",
    "--no-themes",
    "--use-theme",
    "x",
    "--tui-mode",
    "regular",
  ];
  const { code, stdout, stderr } = await pi.run(["-p", ...foreign, "--offline", "--no-session", "--", "-hi"]);
  expect({ code, stdout }).toEqual({ code: 0, stdout: "Hello from the mock.\n" });
  expect(stderr.match(/Without a meaning here/g)).toHaveLength(1);
  expect(stderr).toContain("--extension, --no-extensions, --theme, --no-themes, --use-theme, --tui-mode");
  expect(pi.server.requests[0]?.body.messages.at(-1).content).toBe("-hi");
  expect(await pi.run(["-p", "--quiet", "--theme", "t", "hi"])).toMatchObject({ code: 0, stderr: "" });
});

test("tools that only pi has are passed over with a note; a name that neither has is an error", async () => {
  await using pi = await setUp();
  const { stderr } = await pi.run(["-p", "-t", "read,codemode", "-xt", "powershell", "hi"]);
  expect(stderr).toContain("There are no such tools here: codemode, powershell");
  expect(toolNames(pi.server.requests[0]?.body)).toEqual(["read"]);
  expect(await pi.run(["-p", "-t", "read,codemod", "hi"])).toMatchObject({ code: 2, stdout: "" });
});

test("--list-models lists the models, or those that a text fits", async () => {
  await using pi = await setUp();
  const all = await pi.run(["--list-models"]);
  expect(all).toMatchObject({ code: 0, stderr: "" });
  for (const name of ["hello", "think", "claude"]) expect(all.stdout).toContain(name);
  const some = await pi.run(["--offline", "--list-models", "bash-sl"]);
  expect(some.stdout).toMatch(/^mock\n {2}bash-sleep .*\n {2}bash-sleep-long .*\n$/);
});

describe("sessions", () => {
  test("are kept where PI_CODING_AGENT_SESSION_DIR says, under the name and id that were given, and become a page", async () => {
    await using pi = await setUp();
    const env = { PI_CODING_AGENT_SESSION_DIR: pi.dir.file("kept"), PI_OFFLINE: "1" };
    expect((await pi.run(["-p", "-n", "the parser", "--session-id", "mine", "hi"], { env })).code).toBe(0);
    const [folder = ""] = readdirSync(pi.dir.file("kept"));
    const [file = ""] = readdirSync(pi.dir.file(`kept/${folder}`));
    const path = pi.dir.file(`kept/${folder}/${file}`);
    expect(file).toEndWith("_mine.jsonl");
    expect(readFileSync(path, "utf8")).toContain('"name":"the parser"');
    expect((await pi.run(["-p", "--session", path, "again"], { env })).code).toBe(0);
    expect((await pi.run(["-p", "-c", "and again"], { env })).code).toBe(0);
    expect((await pi.run(["-p", "--session-id", "mine", "by id"], { env })).code).toBe(0);
    expect(readFileSync(path, "utf8").match(/"role":"user"/g)).toHaveLength(4);
    const elsewhere = await pi.run(["-p", "--session-id", "mine", "no"], { env, cwd: pi.dir.path });
    expect(elsewhere).toMatchObject({ code: 2, stderr: expect.stringContaining("'mine' already") });
    expect((await pi.run(["-p", "--fork", path, "apart"], { env })).code).toBe(0);
    expect(readdirSync(pi.dir.file(`kept/${folder}`))).toHaveLength(2);
    expect(await pi.run(["--export", path, "out.html"])).toMatchObject({
      code: 0,
      stdout: `${pi.dir.file("work/out.html")}\n`,
    });
    expect(readFileSync(pi.dir.file("work/out.html"), "utf8")).toContain("and again");
    expect(await pi.run(["--export", "mine"], { env })).toMatchObject({
      code: 0,
      stdout: `${pi.dir.file("work/mine.html")}\n`,
    });
  });
});

test("the wrapper of two lines serves a client that looks for pi", async () => {
  await using pi = await setUp();
  const [wrapper = ""] = readmeBlocks("# In the place of pi", "sh", "docs/in-place-of-pi.md");
  expect(wrapper).toBe('#!/bin/sh\nexec pi-ts --yolo "$@"\n');
  mkdirSync(pi.dir.file("bin"));
  writeFileSync(pi.dir.file("bin/pi"), wrapper);
  chmodSync(pi.dir.file("bin/pi"), 0o755);
  writeFileSync(pi.dir.file("bin/pi-ts"), `#!/bin/sh\nexec '${binaryPath()}' "$@"\n`);
  chmodSync(pi.dir.file("bin/pi-ts"), 0o755);
  const env = cleanEnv(pi.place.home, { PATH: `${pi.dir.file("bin")}:${process.env.PATH}` });
  const args = ["pi", "--mode", "json", "--provider", "mock", "--model", "tools-1", "two words"];
  const child = Bun.spawn(args, { cwd: pi.place.cwd, env, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const records = (await child.stdout.text())
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(await child.exited).toBe(0);
  expect(records.find(({ type }) => type === "tool_execution_end")).toMatchObject({ isError: false });
  expect(records.at(-1)).toMatchObject({ type: "agent_settled", aborted: false });
});
