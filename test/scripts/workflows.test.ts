// The workflows: YAML that parses, no more rights than needed, actions pinned by tag, and commands that the project has; and how it is packed.
import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import pkg from "../../package.json";
import { targets } from "../../scripts/release/targets.ts";

const root = join(import.meta.dir, "../..");
const folder = join(root, ".github/workflows");

interface Step {
  readonly uses?: string;
  readonly run?: string;
}

interface Job {
  readonly needs?: string | readonly string[];
  readonly permissions?: Readonly<Record<string, string>>;
  readonly "timeout-minutes"?: number;
  readonly steps: readonly Step[];
}

interface Workflow {
  readonly on: Readonly<Record<string, unknown>>;
  readonly permissions: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<string, Job>>;
}

const names = readdirSync(folder).sort();
const load = (name: string) => Bun.YAML.parse(readFileSync(join(folder, name), "utf8")) as Workflow;
const steps = (workflow: Workflow) => Object.values(workflow.jobs).flatMap((job) => job.steps);
const runs = (workflow: Workflow) => steps(workflow).flatMap(({ run }) => run ?? []);

test("there is one for checks and one for releases", () => {
  expect(names).toEqual(["checks.yml", "release.yml"]);
});

describe.each(names)("%s", (name) => {
  const workflow = load(name);

  test("may only read, but for the job that publishes", () => {
    expect(workflow.permissions).toEqual({ contents: "read" });
    const writing = Object.entries(workflow.jobs).filter(([, job]) => job.permissions !== undefined);
    expect(writing.map(([job, { permissions }]) => [job, permissions])).toEqual(
      name === "release.yml" ? [["publish", { contents: "write" }]] : [],
    );
  });

  test("has a time limit for every job, and pins every action by tag", () => {
    for (const job of Object.values(workflow.jobs)) expect(job["timeout-minutes"]).toBeGreaterThan(0);
    const actions = steps(workflow).flatMap(({ uses }) => uses ?? []);
    expect(actions.length).toBeGreaterThan(0);
    for (const action of actions) expect(action).toMatch(/^actions\/[\w-]+@v\d+(\.\d+)*$/);
  });

  test("runs package scripts that there are, with the pinned Bun, for targets that there are", () => {
    const commands = runs(workflow).flatMap((run) => [
      ...run.matchAll(/npx -y (\S+) run (\S+)([^"\n]*(?:"[^"]*"[^"\n]*)*)/g),
    ]);
    expect(commands.length).toBeGreaterThan(0);
    for (const [, bun, script, rest] of commands) {
      expect(bun).toBe(pkg.packageManager);
      expect(Object.keys(pkg.scripts)).toContain(script!);
      const words = rest!.match(/"[^"]*"|\S+/g) ?? [];
      const plain = words.filter((word, i) => !word.startsWith("-") && words[i - 1] !== "--base-url");
      for (const target of plain) expect(targets.map((one) => one.name)).toContain(target);
    }
  });

  test("has shell commands that a shell can read", () => {
    for (const run of runs(workflow)) {
      const { exitCode, stderr } = Bun.spawnSync(["bash", "-n"], { stdin: Buffer.from(run) });
      expect({ run, exitCode, stderr: stderr.toString() }).toEqual({ run, exitCode: 0, stderr: "" });
    }
  });
});

test("the check is the README's, on Linux and macOS", () => {
  const [, command] = /^(npx .* run check)\b/m.exec(readFileSync(join(root, "README.md"), "utf8"))!;
  expect(runs(load("checks.yml"))).toContain(command!);
});

test("packing needs no Bun on the PATH, and gets the pinned one", () => {
  expect(pkg.scripts.prepack).toBe(`npx -y ${pkg.packageManager} run build:sdk`);
});

test("only what was built and tried is published, on tags alone", () => {
  const { on, jobs } = load("release.yml");
  expect(on).toEqual({ push: { tags: ["v*"] } });
  expect([jobs.publish?.needs, jobs.smoke?.needs, jobs.musl?.needs]).toEqual([["smoke", "musl"], "build", "build"]);
  // Whoever can write takes no code of the project along.
  expect(jobs.publish?.steps.flatMap(({ uses }) => uses ?? [])).toEqual(["actions/download-artifact@v4"]);
});

test.skipIf(Bun.which("node") === null)("the step that compares tag and version lets only the version through", () => {
  const check = runs(load("release.yml")).find((run) => run.startsWith("test "))!;
  const passes = (tag: string) =>
    Bun.spawnSync(["bash", "-c", check], { cwd: root, env: { ...process.env, GITHUB_REF_NAME: tag } }).exitCode === 0;
  expect(passes(`v${pkg.version}`)).toBe(true);
  expect(passes("v99.0.0")).toBe(false);
  expect(passes(pkg.version)).toBe(false);
});
