// What the README and docs/ say to type for installing, scripts, CI and job runners is run as it stands there, with the compiled program.
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readmeBlocks } from "../helpers/readme.ts";
import { type RecordedRequest, type ReplayServer, type Reply, startReplayServer } from "../helpers/replay-server.ts";
import { binaryPath, cleanEnv } from "../helpers/run-cli.ts";
import { type TmpDir, tmp } from "../helpers/tmp.ts";

setDefaultTimeout(60_000);

const oneLiners = readmeBlocks("## In scripts and CI", "sh")[0]!.trimEnd().split("\n");
const change = "let answer = 42;";
const page = "docs/many-at-once.md";

interface Place extends AsyncDisposable {
  readonly dir: TmpDir;
  /** A repository with one commit behind a branch of `origin`, a commit on top, and a change that is staged. */
  readonly repository: string;
  readonly env: Record<string, string>;
  readonly server: ReplayServer;
}

async function makePlace(...answers: Reply[] | [(request: RecordedRequest) => Reply]): Promise<Place> {
  const dir = tmp();
  const [first] = answers;
  const server = await startReplayServer(typeof first === "function" ? first : (answers as Reply[]));
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

interface Container {
  readonly command: string[];
  readonly args: string[];
  readonly env: object[];
}

describe("many at once", () => {
  /** Says which task it was given, and refuses the one that says so. */
  const byTask = ({ body }: RecordedRequest): Reply => {
    const said = JSON.stringify(body.messages.filter(({ role }: { role: string }) => role === "user"));
    const [task] = /task \w+/.exec(said) ?? [];
    return task === "task two" ? { status: 401, body: "{}" } : { turn: { text: `Done: ${task}.` } };
  };
  const tasks = "task one\ntask two\ntask three, with 'quotes' and $HOME\n";

  const sessionFiles = (folder: string) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".jsonl"));

  test.skipIf(Bun.which("parallel") === null)("GNU parallel runs a task a line", async () => {
    await using place = await makePlace(byTask);
    writeFileSync(join(place.repository, "tasks.txt"), tasks);
    const [text] = readmeBlocks("### Running many at once", "sh");
    const sessions = place.dir.file("sessions");
    const { code } = await shell(place, text!, sh, { PI_TS_SESSION_DIR: sessions });
    // GNU parallel's own exit code is the number of jobs that failed.
    expect(code).toBe(1);
    const file = (name: string) => readFileSync(join(place.repository, name), "utf8");
    expect(["1.md", "2.md", "3.md"].map(file)).toEqual(["Done: task one.\n", "", "Done: task three.\n"]);
    expect([1, 2, 3].map((job) => JSON.parse(file(`${job}.json`)).exitCode)).toEqual([0, 1, 0]);
    const jobs = file("jobs.tsv").trimEnd().split("\n").slice(1);
    expect(jobs.map((line) => line.split("\t")).map(([job, , , , , , code]) => `${job} ${code}`)).toContain("2 1");
    expect(sessionFiles(sessions)).toHaveLength(3);
    const asked = place.server.requests.map(({ text }) => text).join();
    expect(asked).toContain("task three, with 'quotes' and $HOME");
  });

  test("the commands of a Kubernetes Job run the task of their index", async () => {
    await using place = await makePlace(byTask);
    const shared = place.dir.file("shared");
    mkdirSync(join(shared, "results"), { recursive: true });
    writeFileSync(join(shared, "tasks.txt"), tasks);
    const [manifest] = readmeBlocks("## Kubernetes Jobs", "yaml", page);
    const { spec } = Bun.YAML.parse(manifest!) as { spec: { template: { spec: { containers: Container[] } } } };
    const { command, args, env } = spec.template.spec.containers[0]!;
    expect(env[0]).toEqual({ name: "PI_TS_SESSION_DIR", value: "/shared/sessions" });
    const run = (index: number) =>
      shell(place, args[0]!.replaceAll("/shared/", `${shared}/`), command, {
        PI_TS_SESSION_DIR: join(shared, "sessions"),
        JOB_COMPLETION_INDEX: String(index),
      });
    const runs = await Promise.all([0, 1, 2].map(run));
    expect(runs.map(({ code, stdout }) => ({ code, stdout }))).toEqual([
      { code: 0, stdout: "Done: task one.\n" },
      { code: 1, stdout: "" },
      { code: 0, stdout: "Done: task three.\n" },
    ]);
    expect(readdirSync(join(shared, "results")).sort()).toEqual(["0.json", "1.json", "2.json"]);
    expect(sessionFiles(join(shared, "sessions"))).toHaveLength(3);
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
      expect(
        (await shell(place, place.dir.file("step.sh"), ["bash", "-e"], { ...runner, GITHUB_BASE_REF: "gone" })).code,
      ).toBe(128);
      expect(place.server.requests).toHaveLength(2);
    });

    test("runs a task of a CI matrix", async () => {
      const [text] = readmeBlocks("## A CI matrix", "yaml", page);
      const { jobs } = Bun.YAML.parse(text!) as { jobs: { agent: { steps: { run?: string }[] } } };
      const { run } = jobs.agent.steps.find((step) => step.run !== undefined)!;
      await using place = await makePlace({ turn: { text: "Mended." } });
      const runner = { RUNNER_TEMP: place.dir.path, GITHUB_STEP_SUMMARY: place.dir.file("summary"), TASK: "mend it" };
      expect(await shell(place, run!, ["bash", "-ec"], runner)).toMatchObject({ code: 0 });
      expect(readFileSync(runner.GITHUB_STEP_SUMMARY, "utf8")).toBe("Mended.\n");
      expect(readFileSync(place.dir.file("change.diff"), "utf8")).toContain(`+${change}`);
      expect(await asked(place)).toContain("mend it");
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
