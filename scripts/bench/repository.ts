// A small repository, and the commands that an agent begins with in one.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** Ten; without a single quote, so that each fits into a shell's. */
export const quickCommands: readonly string[] = [
  "git status --short",
  "ls -la",
  'grep -rn "export function" src',
  "wc -l src/*.ts",
  "git log --oneline -5",
  "cat package.json",
  "head -n 20 README.md",
  'find . -name "*.ts" -not -path "./.git/*"',
  "git diff --stat",
  "sed -n 1,40p src/part-7.ts",
];

/** Makes it in `folder`: some sources, one commit and one change after it. Throws when git fails. */
export function prepareRepository(folder: string): void {
  const write = (name: string, text: string) => {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  };
  write("package.json", `${JSON.stringify({ name: "bench", version: "1.0.0", type: "module" }, null, 2)}\n`);
  write("README.md", `# Bench\n\n${"A line of text about it.\n".repeat(40)}`);
  for (let i = 0; i < 40; i++) {
    const bodies = Array.from(
      { length: 10 },
      (_, n) => `export function part${i}x${n}(): number {\n  return ${n};\n}\n`,
    );
    write(`src/part-${i}.ts`, bodies.join("\n"));
  }
  git(folder, "init", "--quiet", "--initial-branch=main");
  git(folder, "add", ".");
  git(folder, "-c", "user.name=bench", "-c", "user.email=bench@localhost", "commit", "--quiet", "-m", "begin");
  write("src/part-7.ts", "export const changed = true;\n");
}

/** Runs each command in a bash of its own, as the tool does; what they print goes to `outputFile`, since some print less to nowhere. */
export function toShellScript(commands: readonly string[], outputFile: string): string {
  return [`exec > '${outputFile}'`, ...commands.map((command) => `bash -c '${command}'`)].join("\n");
}

function git(folder: string, ...args: string[]): void {
  const { exitCode, stderr } = Bun.spawnSync(["git", "-c", "commit.gpgsign=false", ...args], { cwd: folder });
  if (exitCode !== 0) throw new Error(`git ${args.join(" ")} ended with ${exitCode}: ${stderr}`);
}
