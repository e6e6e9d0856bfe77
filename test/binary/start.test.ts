// Start and set-up of the compiled binary: version, help, prompt, configuration, and folders that want to be run.
import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import packageJson from "../../package.json";
import { rootArgs } from "../../src/cli/args.ts";
import { startReplayServer } from "../helpers/replay-server.ts";
import { binaryPath, cleanEnv, runCli } from "../helpers/run-cli.ts";
import { tmp } from "../helpers/tmp.ts";

test("--version prints the version", async () => {
  const result = await runCli(["--version"]);
  expect(result).toEqual({ stdout: `pi-ts ${packageJson.version}\n`, stderr: "", code: 0, signal: null });
});

test("--help names every flag and exit code", async () => {
  const { stdout, code } = await runCli(["--help"]);
  expect(code).toBe(0);
  for (const [name, arg] of Object.entries(rootArgs))
    expect(stdout).toContain(arg.type === "positional" ? "TASK" : `--${name}`);
  for (const exitCode of ["0", "1", "2", "129, 130, 143"]) expect(stdout).toContain(`\n  ${exitCode} `);
  expect(stdout).not.toContain("\u001b");
  expect(stdout.split("\n").filter((line) => line.length > 80)).toEqual([]);
  expect(await runCli(["-p", "--help"])).toMatchObject({ stdout });
});

test.each(["--version", "--help", "models", "doctor"])("%s to a full disk is no success", async (word) => {
  await using dir = tmp();
  const run = Bun.spawn(["sh", "-c", `exec "$0" "$1" > /dev/full`, binaryPath(), word], {
    env: cleanEnv(dir.path),
    stderr: "pipe",
  });
  expect(await run.exited).toBe(1);
  expect(await run.stderr.text()).toBe("error: Could not write to stdout: ENOSPC: no space left on device, write\n");
});

test("models lists a provider's models and marks the default", async () => {
  const { stdout, code } = await runCli(["models", "-P", "kimi"]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/kimi-k2\.7-code .*\(default\)/);
});

test.skipIf(process.platform !== "linux")("a working directory whose name is not UTF-8 is told as that", async () => {
  await using dir = tmp();
  const script = `mkdir "$(printf 'caf\\351')" && cd "$(printf 'caf\\351')" && exec "$0" -p hi`;
  const { stderr, exitCode } = Bun.spawnSync(["sh", "-c", script, binaryPath()], {
    cwd: dir.path,
    env: cleanEnv(dir.path, { ANTHROPIC_API_KEY: "sk-test" }),
  });
  expect(`${stderr}`).toStartWith("error: The working directory's path is not UTF-8: ");
  expect(exitCode).toBe(2);
});

test("models that no id fits are told", async () => {
  const told = { stdout: "", stderr: "No model has 'no-such' in its id.\n", code: 0 };
  expect(await runCli(["models", "no-such"])).toMatchObject(told);
});

describe("--print-system-prompt", () => {
  test("prints it without a key: who, where, how, and AGENTS.md up to the repository's root", async () => {
    await using dir = tmp();
    mkdirSync(dir.file("repo/.git"), { recursive: true });
    mkdirSync(dir.file("repo/pkg"));
    writeFileSync(dir.file("AGENTS.md"), "beyond the root");
    writeFileSync(dir.file("repo/AGENTS.md"), "rules of the repo");
    writeFileSync(dir.file("repo/pkg/AGENTS.md"), "rules of the package");
    const { stdout, code } = await runCli(["--print-system-prompt"], { cwd: dir.file("repo/pkg") });
    expect(code).toBe(0);
    for (const part of ["You are pi-ts", dir.file("repo/pkg"), "Linux", "Prefer tools over guessing", "Be concise"]) {
      expect(stdout).toContain(part);
    }
    expect(stdout.indexOf("rules of the repo")).toBeLessThan(stdout.indexOf("rules of the package"));
    expect(stdout).not.toContain("beyond the root");
    const without = await runCli(["--print-system-prompt", "--no-context-files"], { cwd: dir.file("repo/pkg") });
    expect(without.stdout).not.toContain("rules of");
  });

  test("has of an AGENTS.md that leads out of the repository only Markdown", async () => {
    await using dir = tmp();
    for (const folder of ["repo/.git", "repo/pkg"]) mkdirSync(dir.file(folder), { recursive: true });
    writeFileSync(dir.file("credentials"), "a key");
    writeFileSync(dir.file("shared.md"), "shared rules");
    symlinkSync("../shared.md", dir.file("repo/AGENTS.md"));
    symlinkSync("../../credentials", dir.file("repo/pkg/AGENTS.md"));
    const { stdout } = await runCli(["--print-system-prompt"], { cwd: dir.file("repo/pkg") });
    expect(stdout).toContain("shared rules");
    expect(stdout).not.toContain("a key");
    expect(stdout).toContain(`(left out: it is a link out of the project, to ${dir.file("credentials")})`);
  });
});

describe("configuration", () => {
  const custom = (url: string) => `
provider = "mine"
max_tokens = 77
[providers.mine]
base_url = "${url}/"
api = "openai-completions"
api_key_env = "MINE_KEY"
models = ["one", "two"]
`;

  async function request(config: string, args: string[], env: Record<string, string>) {
    await using home = tmp();
    mkdirSync(home.file(".pi-ts"));
    await using server = await startReplayServer([{ turn: { text: "ok" } }]);
    writeFileSync(home.file(".pi-ts/config.toml"), config.replaceAll("$URL", server.url));
    const result = await runCli(["-p", "hi", ...args], { home: home.path, env });
    return { result, request: server.requests[0] };
  }

  test.each([
    ["the file", [], {}, { model: "one", max_tokens: 77 }],
    ["the environment over the file", [], { PI_MODEL: "two", PI_MAX_TOKENS: "88" }, { model: "two", max_tokens: 88 }],
    [
      "flags over the environment",
      ["-m", "three", "--max-tokens", "99"],
      { PI_MODEL: "two", PI_MAX_TOKENS: "88" },
      { model: "three", max_tokens: 99 },
    ],
  ])("takes %s", async (_name, args, env, expected) => {
    const seen = await request(custom("$URL"), args, { MINE_KEY: "k-mine", ...env });
    expect(seen.result.code).toBe(0);
    expect(seen.request?.body).toMatchObject(expected);
    expect(seen.request?.body).not.toHaveProperty("temperature");
    expect(seen.request?.body.stream_options).toEqual({ include_usage: true });
    expect(seen.request?.headers.authorization).toBe("Bearer k-mine");
    expect(seen.request?.path).toBe("/v1/chat/completions");
  });

  test.each([
    ["not TOML", "quiet = true\nprovider = = 1\n", /config\.toml:2: not valid TOML/],
    ["an unknown key", 'provider = "openai"\nmodle = "x"\n', /config\.toml:2: unknown key 'modle'/],
    [
      "a wrong type",
      "[providers.mine]\nbase_url = 7\n",
      /config\.toml:2: 'providers\.mine\.base_url' must be of type string/,
    ],
    ["a wrong value", '[providers.mine]\napi = "soap"\n', /'providers\.mine\.api' must be one of/],
    [
      "a provider without address",
      'provider = "mine"\n[providers.mine]\nmodels = ["x"]\n',
      /Provider mine has no base_url/,
    ],
  ])("with %s is one clear error and 2", async (_name, config, message) => {
    const { result } = await request(config, [], {});
    expect(result.code).toBe(2);
    expect(result.stdout).toBe("");
    expect(result.stderr).toMatch(message);
    expect(result.stderr).not.toContain("    at ");
  });
});

test("the configuration that the README shows is accepted", async () => {
  await using home = tmp();
  mkdirSync(home.file(".pi-ts"));
  const readme = readFileSync(join(import.meta.dir, "../../README.md"), "utf8");
  const example = /```toml\n(provider = "local"[\s\S]*?)```/.exec(readme)?.[1] ?? "";
  expect(example).toContain("[providers.local]");
  writeFileSync(home.file(".pi-ts/config.toml"), example);
  const { stdout, stderr, code } = await runCli(["models", "-P", "local"], { home: home.path });
  expect({ stderr, code }).toEqual({ stderr: "", code: 0 });
  expect(stdout).toContain("large");
});

test.each([
  ["a command behind a flag", ["--quiet", "demo"], {}, "The command demo comes first"],
  ["words behind demo", ["demo", "now"], {}, "pi-ts demo takes no task"],
  [
    "an empty model",
    ["-p", "-m", "openai/", "hi"],
    { OPENAI_API_KEY: "k" },
    "The model named on the command line is empty",
  ],
  ["a provider that the file names wrongly", ["-p", "-P", "", "hi"], {}, "Unknown provider '' on the command line"],
  ["a key over two lines", ["-p", "hi"], { ANTHROPIC_API_KEY: "sk\nx" }, "A key is one line without blanks or quotes."],
])("%s is told and gives 2", async (_name, args, env, message) => {
  const { stdout, stderr, code } = await runCli(args, { env });
  expect({ stdout, code }).toEqual({ stdout: "", code: 2 });
  expect(stderr).toContain(message);
});

test("a configuration file that is a FIFO does not hold up the start", async () => {
  await using home = tmp();
  mkdirSync(home.file(".pi-ts"));
  Bun.spawnSync(["mkfifo", home.file(".pi-ts/config.toml")]);
  const { stderr, code } = await runCli(["-p", "hi"], { home: home.path });
  expect(code).toBe(2);
  expect(stderr).toContain("it is not a regular file");
});

test("an AGENTS.md beyond the limit is cut between characters, with a note", async () => {
  await using dir = tmp();
  await using server = await startReplayServer([{ turn: { text: "ok" } }]);
  writeFileSync(dir.file("AGENTS.md"), `${"x".repeat(65_535)}${"😀".repeat(10)}\0`);
  const env = { PI_PROVIDER: "openai", OPENAI_API_KEY: "k", PI_BASE_URL: server.url };
  await runCli(["-p", "hi"], { cwd: dir.path, env });
  expect(server.problems).toEqual([]);
  expect(server.requests[0]?.body.messages[0].content).toContain(
    "x\n(cut: the file has 65576 bytes, these are the first 65536)",
  );
});

test("neither bunfig.toml nor .env of the working directory is read", async () => {
  await using dir = tmp();
  await using server = await startReplayServer([{ turn: { text: "ok" } }]);
  writeFileSync(dir.file("bunfig.toml"), 'preload = ["./evil.ts"]\n');
  writeFileSync(dir.file("evil.ts"), 'require("node:fs").writeFileSync("pwned", "")\n');
  writeFileSync(dir.file(".env"), "OPENAI_API_KEY=evil\nPI_BASE_URL=http://127.0.0.1:1\n");
  writeFileSync(dir.file("tsconfig.json"), "{ not json");
  writeFileSync(dir.file("package.json"), "{ not json");
  const version = await runCli(["--version"], { cwd: dir.path });
  expect(version.code).toBe(0);
  const keyless = await runCli(["-p", "hi"], { cwd: dir.path, env: { PI_PROVIDER: "openai" } });
  expect(keyless.stderr).toContain("set $OPENAI_API_KEY");
  const env = { PI_PROVIDER: "openai", OPENAI_API_KEY: "good-key", PI_BASE_URL: server.url };
  const answered = await runCli(["-p", "hi"], { cwd: dir.path, env });
  expect(answered.stdout).toBe("ok\n");
  expect(server.requests[0]?.headers.authorization).toBe("Bearer good-key");
  expect(existsSync(dir.file("pwned"))).toBe(false);
});

test("demo mends its project without key or network, and says that the model is a recording", async () => {
  const result = await runCli(["demo"]);
  expect(result.code).toBe(0);
  expect(result.stdout).toContain("The test passes now.");
  expect(result.stderr).toContain("The model in this demo is a recording");
  expect(result.stderr).toContain('Checked: bash test.sh prints "ok" and exits 0.');
});

test("demo without a place for its project says so", async () => {
  await using dir = tmp();
  const { stderr, code } = await runCli(["demo"], { env: { TMPDIR: dir.file("nowhere") } });
  expect(stderr).toStartWith(`error: The demo's project cannot be made in ${dir.file("nowhere")}: ENOENT`);
  expect([code, stderr.includes("bug")]).toEqual([2, false]);
});
