// What the README says to type for installing, scripts and CI is run as it stands there, with the compiled program.
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readmeBlocks } from "../helpers/readme.ts";
import { type ReplayServer, type Reply, startReplayServer } from "../helpers/replay-server.ts";
import { binaryPath, cleanEnv } from "../helpers/run-cli.ts";
import { type TmpDir, tmp } from "../helpers/tmp.ts";

setDefaultTimeout(60_000);

const oneLiners = readmeBlocks("## In scripts and CI", "sh")[0]!.trimEnd().split("\n");
const change = "let answer = 42;";

interface Place extends AsyncDisposable {
  readonly dir: TmpDir;
  /** A repository with one commit behind a branch of `origin`, a commit on top, and a change that is staged. */
  readonly repository: string;
  readonly env: Record<string, string>;
  readonly server: ReplayServer;
}

async function makePlace(...answers: Reply[]): Promise<Place> {
  const dir = tmp();
  const server = await startReplayServer(answers);
  const files = serveRelease();
  const bin = dir.file("bin");
  mkdirSync(bin);
  symlinkSync(binaryPath(), join(bin, "pi-ts"));
  const env = cleanEnv(dir.file("home"), {
    PATH: `${bin}:${process.env.PATH}`,
    PI_PROVIDER: "openai",
    PI_BASE_URL: `${server.url}/v1`,
    OPENAI_API_KEY: "none",
    RELEASE: files.url,
    ...Object.fromEntries(
      ["AUTHOR", "COMMITTER"].flatMap((who) => [
        [`GIT_${who}_NAME`, "Tester"],
        [`GIT_${who}_EMAIL`, "tester@example.org"],
      ]),
    ),
  });
  mkdirSync(dir.file("home"));
  const repository = makeRepository(dir, env);
  return {
    dir,
    repository,
    env,
    server,
    async [Symbol.asyncDispose]() {
      files.stop();
      await server[Symbol.asyncDispose]();
      await dir[Symbol.asyncDispose]();
    },
  };
}

function makeRepository(dir: TmpDir, env: Record<string, string>): string {
  const repository = dir.file("repository");
  mkdirSync(repository);
  const git = (...words: string[]) => {
    const { exitCode, stderr } = Bun.spawnSync(["git", ...words], { cwd: repository, env });
    if (exitCode !== 0) throw new Error(`git ${words.join(" ")}: ${stderr}`);
  };
  git("init", "-q", "-b", "main");
  writeFileSync(join(repository, "answer.js"), "let answer = 41;\n");
  git("add", ".");
  git("commit", "-qm", "Begin");
  git("update-ref", "refs/remotes/origin/main", "HEAD");
  writeFileSync(join(repository, "answer.js"), `${change}\n`);
  return repository;
}

/** The compiled program under a release's names, with its sums and the install script. */
function serveRelease(): { url: string; stop(): void } {
  const program = Bun.file(binaryPath());
  const name = "pi-ts-linux-x64";
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const path = new URL(request.url).pathname.slice(1);
      if (path === "install.sh") return new Response(Bun.file(join(import.meta.dir, "../../scripts/install.sh")));
      if (path === "SHA256SUMS") {
        const sum = new Bun.CryptoHasher("sha256").update(await program.bytes()).digest("hex");
        return new Response(["", "-baseline"].map((variant) => `${sum}  ${name}${variant}\n`).join(""));
      }
      return path.startsWith(name) ? new Response(program) : new Response("", { status: 404 });
    },
  });
  return { url: `http://127.0.0.1:${server.port}`, stop: () => void server.stop(true) };
}

async function shell(place: Place, text: string, words: string[], extra: Record<string, string> = {}) {
  const child = Bun.spawn([...words, text], {
    cwd: place.repository,
    env: { ...place.env, ...extra },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    timeout: 50_000,
    killSignal: "SIGKILL",
  });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { code: child.exitCode, stdout, stderr };
}

const sh = ["sh", "-c"];

function git(place: Place, ...words: string[]): string {
  return Bun.spawnSync(["git", ...words], { cwd: place.repository, env: place.env })
    .stdout.toString()
    .trim();
}

/** What the user said in the request at this position. */
async function asked(place: Place, position = 0): Promise<string> {
  const { body } = await place.server.request(position);
  return JSON.stringify(body.messages.find((message: { role: string }) => message.role === "user").content);
}

describe("one-liners", () => {
  const line = (start: string) => {
    const found = oneLiners.find((one) => one.startsWith(start));
    if (found === undefined) throw new Error(`the README has no line that begins with ${start}`);
    return found;
  };

  test("a diff is reviewed", async () => {
    await using place = await makePlace({ turn: { text: "Well done." } });
    const { code, stdout } = await shell(place, line("git diff |"), sh);
    expect({ code, stdout }).toEqual({ code: 0, stdout: "Well done.\n" });
    const said = await asked(place);
    expect(said).toContain(`+${change}`);
    expect(said).toContain("review");
  });

  test("a commit gets its message", async () => {
    await using place = await makePlace({ turn: { text: "Answer with 42" } });
    git(place, "add", ".");
    const { code, stderr } = await shell(place, line("git diff --cached"), sh);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(git(place, "log", "-1", "--format=%s")).toBe("Answer with 42");
    expect(await asked(place)).toContain(`+${change}`);
  });

  test("an allowed command runs, and no answer is told by the exit code", async () => {
    const command = { name: "bash", arguments: { command: "git log --format=%s" } };
    await using place = await makePlace({ turn: { calls: [command] } }, { turn: { text: "It began." } });
    const text = line('pi-ts -p --allow "bash(git log *)"');
    expect(await shell(place, text, sh)).toMatchObject({ code: 0, stdout: "" });
    expect(readFileSync(join(place.repository, "changes.md"), "utf8")).toBe("It began.\n");
    const { body } = await place.server.request(1);
    expect(JSON.stringify(body.messages)).toContain("Begin\\n");

    await using failing = await makePlace({ status: 401, body: "{}" });
    expect(await shell(failing, text, sh)).toMatchObject({ code: 0, stdout: "no answer\n" });
  });

  test.skipIf(Bun.which("jq") === null)("events go through jq", async () => {
    const call = { name: "ls", arguments: {} };
    await using place = await makePlace({ turn: { calls: [call] } }, { turn: { text: "One." } });
    const { code, stdout } = await shell(place, line("pi-ts --mode json"), sh);
    expect({ code, stdout }).toEqual({ code: 0, stdout: "ls\n" });
  });

  test("each has its test here", () => {
    const tried = ["git diff |", "git diff --cached", 'pi-ts -p --allow "bash(git log *)"', "pi-ts --mode json"];
    expect(oneLiners.filter((one) => !tried.some((start) => one.startsWith(start)))).toEqual([]);
  });
});

describe("unattended runs", () => {
  const [limited = "", schema = "", fallback = "", ...others] = readmeBlocks("### Unattended runs", "sh")[0]!
    .trimEnd()
    .split("\n");

  test("a run with limits leaves its verdict in a file", async () => {
    await using place = await makePlace({ turn: { text: "Mended.", usage: { prompt: 10, completion: 5 } } });
    expect(await shell(place, limited, sh)).toMatchObject({ code: 0, stdout: "Mended.\n" });
    expect(JSON.parse(readFileSync(join(place.repository, "result.json"), "utf8"))).toMatchObject({ status: "done" });
  });

  test.skipIf(Bun.which("jq") === null)("an answer with a schema goes into jq", async () => {
    await using place = await makePlace({ turn: { text: "Not very." } }, { turn: { text: '{"risk": 2}' } });
    expect(await shell(place, schema, sh)).toMatchObject({ code: 0, stdout: "2\n" });
    expect(await asked(place)).toContain(`+${change}`);
  });

  test("models stand by", async () => {
    await using place = await makePlace({ turn: { text: "Little." } });
    const keys = { GEMINI_API_KEY: "none" };
    expect(await shell(place, fallback, sh, keys)).toMatchObject({ code: 0, stdout: "Little.\n" });
  });

  test("each has its test here", () => {
    expect(others).toEqual([]);
  });
});

describe.skipIf(process.platform !== "linux" || process.arch !== "x64" || Bun.which("curl") === null)(
  "a release",
  () => {
    const [pipe, byHand] = readmeBlocks("## Install", "sh");

    test("is installed by the line for it", async () => {
      await using place = await makePlace();
      const { code, stdout } = await shell(place, pipe!, sh);
      expect(code).toBe(0);
      expect(stdout).toContain(`as ${place.env.HOME}/.local/bin/pi-ts\n`);
      expect(Bun.spawnSync([`${place.env.HOME}/.local/bin/pi-ts`, "--version"]).stdout.toString()).toStartWith(
        "pi-ts ",
      );
    });

    test("is installed by hand", async () => {
      await using place = await makePlace();
      const { code, stdout } = await shell(place, byHand!, ["sh", "-ec"]);
      expect({ code, stdout }).toEqual({ code: 0, stdout: "pi-ts-linux-x64: OK\n" });
      expect(existsSync(`${place.env.HOME}/.local/bin/pi-ts`)).toBe(true);
    });

    test("reviews a change in the step for GitHub Actions, and fails it without an answer", async () => {
      const [step] = Bun.YAML.parse(readmeBlocks("## In scripts and CI", "yaml")[0]!) as [{ run: string; env: object }];
      expect(Object.keys(step.env)).toEqual(["ANTHROPIC_API_KEY", "RELEASE"]);
      await using place = await makePlace({ turn: { text: "Well done." } }, { status: 401, body: "{}" });
      git(place, "commit", "-qam", "Change");
      const runner = {
        RUNNER_TEMP: place.dir.file("temp"),
        GITHUB_BASE_REF: "main",
        GITHUB_STEP_SUMMARY: place.dir.file("summary"),
      };
      mkdirSync(runner.RUNNER_TEMP);
      // As the runner does it: the text in a file, `bash -e` on that.
      writeFileSync(place.dir.file("step.sh"), step.run);
      const run = () => shell(place, place.dir.file("step.sh"), ["bash", "-e"], runner);
      expect(await run()).toMatchObject({ code: 0 });
      expect(readFileSync(runner.GITHUB_STEP_SUMMARY, "utf8")).toBe("Well done.\n");
      expect(await asked(place)).toContain(`+${change}`);
      expect(await run()).toMatchObject({ code: 1 });
      expect(readFileSync(runner.GITHUB_STEP_SUMMARY, "utf8")).toBe("Well done.\n");
    });

    test("reviews a change in a plain shell", async () => {
      const text = readmeBlocks("## In scripts and CI", "sh")[1]!;
      await using place = await makePlace({ turn: { text: "Well done." } });
      git(place, "commit", "-qam", "Change");
      expect(await shell(place, text, sh, { TMPDIR: place.dir.path })).toMatchObject({ code: 0 });
      expect(readFileSync(join(place.repository, "review.md"), "utf8")).toBe("Well done.\n");
      expect(await asked(place)).toContain(`+${change}`);
      expect(place.server.problems).toEqual([]);
    });
  },
);
