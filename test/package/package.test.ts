// The npm package, as a user gets it: packed, installed into an empty project without a registry (so nothing but zod can be among its
// dependencies), type-checked there with both ways of finding modules, and run by Node and by Bun.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { buildSdk } from "../../scripts/build-sdk.ts";
import { startObedientModel } from "../helpers/obedient-model.ts";
import { readmeBlocks } from "../helpers/readme.ts";
import { runExample } from "../helpers/run-example.ts";
import { tmp } from "../helpers/tmp.ts";

// Two runs of npm and three of the compiler, which a busy machine draws out.
setDefaultTimeout(60_000);

const root = join(import.meta.dir, "../..");
const examples = ["stream-answer", "approve-tool-calls", "two-agents"];
const npm = Bun.which("npm");
if (!npm) console.log("the tests of the npm package are skipped: there is no npm to pack and install it");

describe.skipIf(npm === null)("the npm package", () => {
  const dir = tmp();
  const project = dir.file("project");
  const installed = join(project, "node_modules/pi-ts");
  /** As `npm pack` lists them. */
  let packed: string[] = [];

  beforeAll(async () => {
    await buildSdk();
    const zod = dir.file("zod.tgz");
    const [sdk] = await Promise.all([pack(), run(["tar", "-czf", zod, "-C", "node_modules", "zod"], root)]);
    packed = sdk.files;
    mkdirSync(project);
    writeProject("package.json", { name: "empty", private: true, type: "module" });
    const flags = ["--offline", "--no-audit", "--no-fund", "--cache", dir.file("cache")];
    await run([npm as string, "install", ...flags, sdk.archive, zod], project);
  });
  afterAll(() => dir[Symbol.asyncDispose]());

  function writeProject(name: string, value: unknown): void {
    writeFileSync(join(project, name), typeof value === "string" ? value : JSON.stringify(value));
  }

  async function pack(): Promise<{ archive: string; files: string[] }> {
    const flags = ["--json", "--ignore-scripts", "--pack-destination", dir.path];
    const [description] = JSON.parse(await run([npm as string, "pack", ...flags], root));
    const files = description.files.map(({ path }: { path: string }) => path);
    return { archive: dir.file(description.filename), files };
  }

  /** Type-checks the project, and compiles it where `outDir` is among the options. */
  async function tsc(compilerOptions: Record<string, unknown>, files: readonly string[]): Promise<void> {
    writeProject("tsconfig.json", {
      compilerOptions: { strict: true, skipLibCheck: false, skipDefaultLibCheck: true, ...compilerOptions },
      files,
    });
    await run([process.execPath, join(root, "node_modules/typescript/bin/tsc"), "-p", "."], project);
  }

  test("holds what was built, its description, the license and the README, and nothing else", () => {
    const built = [...new Bun.Glob("**/*").scanSync(join(root, "dist/sdk"))].map((file) => `dist/sdk/${file}`);
    expect(packed.sort()).toEqual([...built, "LICENSE", "README.md", "package.json"].sort());
    const modules = packed.filter((file) => file.endsWith(".js"));
    expect(modules).toContain("dist/sdk/index.js");
    expect(modules).toContain("dist/sdk/protocol/index.js");
    expect(packed.filter((file) => file.endsWith(".d.ts"))).toEqual(
      modules.map((file) => file.replace(/\.js$/, ".d.ts")),
    );
    expect(built).toHaveLength(2 * modules.length);
  });

  test("depends on zod alone, and runs nothing when it is installed", () => {
    const description = JSON.parse(readFileSync(join(installed, "package.json"), "utf8"));
    expect(Object.keys(description.dependencies)).toEqual(["zod"]);
    for (const kind of ["optionalDependencies", "peerDependencies", "bin"]) expect(description[kind]).toBeUndefined();
    for (const name of ["preinstall", "install", "postinstall", "prepare"]) {
      expect(description.scripts[name]).toBeUndefined();
    }
    expect(readdirSync(join(project, "node_modules")).filter((name) => !name.startsWith("."))).toEqual([
      "pi-ts",
      "zod",
    ]);
  });

  test("imports its own files by the names that they have, Node's parts, and zod", () => {
    const imported = packed.flatMap((file) => {
      if (!/\.(?:js|d\.ts)$/.test(file)) return [];
      const text = readFileSync(join(installed, file), "utf8");
      return [...text.matchAll(/\b(?:from|import)\s*\(?\s*"([^"]+)"/g)].map(([, name = ""]) => {
        return name.startsWith(".") ? join(dirname(file), name) : name;
      });
    });
    expect(imported).not.toEqual([]);
    const strange = imported.filter((name) => !/^node:|^zod(?:\/|$)/.test(name) && !existsSync(join(installed, name)));
    expect(strange).toEqual([]);
  });

  test("has types that check in an empty strict project, also with the module resolution of bundlers", async () => {
    writeProject(
      "uses.ts",
      `import { AgentClient, type AgentRun, runOnce } from "pi-ts";
       import { AgentEvent, RunResult, rpcCommands } from "pi-ts/protocol";
       export async function first(): Promise<string> {
         const client = await AgentClient.start({ model: "m" });
         const run: AgentRun = client.run("hi");
         for await (const event of run) {
           if (event.type === "agent_settled") return event.aborted ? "aborted" : await run.text();
           // @ts-expect-error there is no such event
           if (event.type === "agent_begin") return "";
         }
         const { exitCode, result } = await runOnce("hi");
         const verdict: RunResult | undefined = result;
         return verdict?.reason?.code ?? exitCode.toFixed();
       }
       export const type: "agent_start" | string = AgentEvent.parse({ type: "agent_start" }).type;
       export const turns: number = RunResult.parse({}).turns;
       export const said: string = rpcCommands.prompt.params.parse({ message: "hi" }).message;`,
    );
    await tsc({ noEmit: true, module: "esnext", moduleResolution: "bundler", types: [] }, ["uses.ts"]);
  });

  describe("the examples, which check with the module resolution of Node, run", () => {
    beforeAll(async () => {
      for (const name of examples) copyFileSync(join(root, `test/examples/${name}.ts`), join(project, `${name}.ts`));
      const node = { types: ["node"], typeRoots: [join(root, "node_modules/@types")] };
      const [readme = ""] = readmeBlocks("## SDK", "ts");
      writeProject("readme.ts", readme);
      const files = [...examples.map((name) => `${name}.ts`), "readme.ts"];
      await tsc({ outDir: "out", module: "nodenext", target: "es2022", lib: ["es2023"], ...node }, files);
    });

    test.each([
      ["Node", Bun.which("node") ?? "node"],
      ["Bun", process.execPath],
    ])("under %s", async (_runtime, runtime) => {
      await using server = await startObedientModel();
      const program = (name: string) => [runtime, join(project, `out/${name}.js`)];
      const command = 'bash {"command":"echo made > made.txt"}';
      const [streamed, approved, both] = await Promise.all([
        runExample(program("stream-answer"), ["hello"], server),
        runExample(program("approve-tool-calls"), [command], server, "y\n"),
        runExample(program("two-agents"), ["mock/hello", "mock/think", "hi"], server),
      ]);
      await using _streamed = streamed;
      await using _approved = approved;
      await using _both = both;
      const { stdout, stderr, code } = streamed;
      expect({ stdout, stderr, code }).toEqual({
        stdout: "You said: hello\n",
        stderr: "1000 tokens in, 100 out, $0.0000\n",
        code: 0,
      });
      expect(approved.stderr).toContain("[bash] done");
      expect(readFileSync(join(approved.cwd, "made.txt"), "utf8")).toBe("made\n");
      expect(approved.code).toBe(0);
      expect(both.stdout).toBe("## mock/hello\n\nYou said: hi\n\n## mock/think\n\nYou said: hi\n\n");
      expect(both.code).toBe(0);
    });
  });
});

/** What the command has printed to stdout. */
async function run(command: string[], cwd: string): Promise<string> {
  const child = Bun.spawn(command, { cwd, stdin: "ignore", stdout: "pipe", stderr: "pipe", timeout: 60_000 });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  if (child.exitCode !== 0) throw new Error(`${command.join(" ")} ended with ${child.exitCode}\n${stdout}${stderr}`);
  return stdout;
}
