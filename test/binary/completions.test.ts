// `pi-ts completions` in the shells themselves: each script is taken as it is printed, and the shell is asked what it offers.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { rootArgs } from "../../src/cli/args.ts";
import { commands } from "../../src/cli/commands.ts";
import { readmeBlocks } from "../helpers/readme.ts";
import { binaryPath, cleanEnv, runCli } from "../helpers/run-cli.ts";
import { writeSession } from "../helpers/session-file.ts";
import { type TmpDir, tmp } from "../helpers/tmp.ts";
import { watchText } from "../helpers/wait-for.ts";

const sessionId = "0199aaaa-0000-7000-8000-000000000001";
const elsewhereId = "0199bbbb-0000-7000-8000-000000000002";
const missing = (shell: string) => (Bun.which(shell) === null ? ` (skipped: ${shell} is not installed)` : "");

let dir: TmpDir;
let env: Record<string, string>;
beforeAll(async () => {
  dir = tmp();
  mkdirSync(dir.file("bin"));
  mkdirSync(dir.file("home/.pi-ts"), { recursive: true });
  mkdirSync(dir.file("work/a folder"), { recursive: true });
  writeFileSync(dir.file("work/recording.jsonl"), "");
  writeFileSync(
    dir.file("home/.pi-ts/config.toml"),
    '[providers.local]\nbase_url = "http://127.0.0.1:1"\nmodels = ["tiny:1b"]\n[mcp.notes]\ncommand = "notes-server"\n',
  );
  symlinkSync(binaryPath(), dir.file("bin/pi-ts"));
  env = cleanEnv(dir.file("home"), { PATH: `${dir.file("bin")}:${process.env.PATH}` });
  writeSession(dir.file("home/.pi-ts/sessions"), dir.file("work"), 1, { id: sessionId });
  writeSession(dir.file("work/a folder"), dir.file("work"), 1, { id: elsewhereId });
  symlinkSync(dir.file("work/a folder"), dir.file("home/elsewhere"));
  for (const shell of ["bash", "zsh", "fish"]) {
    const { code, stdout, stderr } = await runCli(["completions", shell], { home: dir.file("home") });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    writeFileSync(dir.file(`pi-ts.${shell}`), stdout);
  }
});
afterAll(() => dir[Symbol.asyncDispose]());

/** What each shell offers for a line. */
const cases: readonly [line: string, offered: readonly string[]][] = [
  ["pi-ts sess", ["sessions"]],
  ["pi-ts sessions ", ["list", "show", "rm", "export"]],
  ["pi-ts sessions show ", [sessionId]],
  ["pi-ts sessions --session-dir ~/elsewhere show ", [elsewhereId]],
  ["pi-ts --session-dir=../home/elsewhere --resume ", [elsewhereId]],
  ["pi-ts --session-dir a\\ folder -r ", [elsewhereId]],
  ["pi-ts sessions --he", ["--here", "--help"]],
  ["pi-ts mcp ", ["list", "add", "remove", "check"]],
  ["pi-ts mcp remove ", ["notes"]],
  ["pi-ts mcp --mcp-config mcp.json remove ", ["notes"]],
  ["pi-ts mcp add --be", ["--bearer-token-env", "--bearer-token-env-var"]],
  ["pi-ts completions ", ["bash", "zsh", "fish"]],
  ["pi-ts completions bash ", []],
  ["pi-ts --resume ", [sessionId]],
  ["pi-ts --mode ", ["text", "json", "rpc"]],
  ["pi-ts --mode=", ["text", "json", "rpc"]],
  ["pi-ts -p --approval ", ["confirm", "select"]],
  ["pi-ts --thinking m", ["minimal", "medium", "max"]],
  ["pi-ts -P ", ["anthropic", "openai", "gemini", "deepseek", "kimi", "local"]],
  ["pi-ts doctor --provider lo", ["local"]],
  ["pi-ts -m kimi-k3", ["kimi-k3", "kimi-k3.1-pro", "kimi-k3.1-pro-highspeed"]],
  ["pi-ts --model local/t", ["local/tiny:1b"]],
  ["pi-ts --fallback kimi/kimi-k3,local/t", ["kimi/kimi-k3,local/tiny:1b"]],
  ["pi-ts --fallback local/tiny:", ["local/tiny:1b"]],
  ["pi-ts --fallback lo", ["local/tiny:1b"]],
  ["pi-ts --fallback kimi-k3", []],
  ["pi-ts --fail", ["--fail-on-denied"]],
  ["pi-ts --tools read,gr", ["read,grep"]],
  ["pi-ts --no-auto", ["--no-auto-compact"]],
  ["pi-ts --max-turns ", []],
];

test("every flag and command is in every script", async () => {
  const names = Object.entries(rootArgs).flatMap(([name, arg]) =>
    arg.description === "For pi only: ignored" || arg.type === "positional" ? [] : [name],
  );
  expect(names.length).toBeGreaterThan(50);
  for (const shell of ["bash", "zsh", "fish"]) {
    const script = await Bun.file(dir.file(`pi-ts.${shell}`)).text();
    for (const name of [...names, ...commands.keys()]) expect(script).toContain(name);
    expect(script).not.toContain("tui-mode");
  }
});

describe("bash", () => {
  function bash(script: string): string {
    const { stdout, stderr, exitCode } = Bun.spawnSync(["bash", "--noprofile", "--norc", "-c", script], {
      env,
      cwd: dir.file("work"),
    });
    expect({ stderr: stderr.toString(), exitCode }).toEqual({ stderr: "", exitCode: 0 });
    return stdout.toString();
  }
  /** Calls the function as bash does, with bash's own idea of words, and puts together what would stand in the line. */
  function offers(line: string, setting = ":"): string[] {
    const typed = line.slice(line.lastIndexOf(" ") + 1);
    const kept = typed.slice(0, Math.max(typed.lastIndexOf("="), typed.lastIndexOf(":")) + 1).replace(/^--[^=]*=/, "");
    const call = `COMP_LINE=$1 COMP_POINT=\${#1}; _pi_ts; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const output = bash(
      `${setting}; source ${dir.file("pi-ts.bash")}; complete -p pi-ts >/dev/null; set -- '${line}'; ${call}`,
    );
    return output.split("\n").flatMap((value) => (value === "" ? [] : [kept + value]));
  }

  test("the script is valid", () => {
    bash(`bash -n ${dir.file("pi-ts.bash")}`);
  });

  test.each(cases)("%s", (line, offered) => {
    expect(offers(line)).toEqual([...offered]);
  });

  test.each<[string, string, readonly string[]]>([
    ["set -u", "pi-ts --mode ", ["text", "json", "rpc"]],
    ["IFS=$'\\n'", "pi-ts --mode ", ["text", "json", "rpc"]],
    ["shopt -s nullglob failglob", "pi-ts sessions show ", [sessionId]],
  ])("after %s", (setting, line, offered) => {
    expect(offers(line, setting)).toEqual([...offered]);
  });

  test("a line as it is typed: files, folders, values with a colon", async () => {
    await using shell = await startShell(
      ["bash", "--noprofile", "--norc", "-i"],
      { PS1: "> " },
      `source ${dir.file("pi-ts.bash")}`,
    );
    await shell.completes("pi-ts --record rec", "pi-ts --record recording.jsonl");
    await shell.completes("pi-ts --session-dir a", "pi-ts --session-dir a\\ folder/");
    await shell.completes("pi-ts --model ti", "pi-ts --model tiny:1b");
    await shell.completes("pi-ts --model tiny:", "pi-ts --model tiny:1b");
    await shell.completes("pi-ts -p fix @rec", "pi-ts -p fix @recording.jsonl");
  }, 30_000);
});

describe(`zsh${missing("zsh")}`, () => {
  test.skipIf(Bun.which("zsh") === null)("the script is valid", () => {
    const { stderr, exitCode } = Bun.spawnSync(["zsh", "-f", "-n", dir.file("pi-ts.zsh")], { env });
    expect({ stderr: stderr.toString(), exitCode }).toEqual({ stderr: "", exitCode: 0 });
  });

  test.skipIf(Bun.which("zsh") === null)(
    "a line as it is typed",
    async () => {
      const start = `autoload -Uz compinit; compinit -u -D; unsetopt zle_bracketed_paste; source ${dir.file("pi-ts.zsh")}`;
      await using shell = await startShell(["zsh", "-f", "-i"], { PS1: "> " }, start);
      await shell.completes("pi-ts sess", "pi-ts sessions ");
      await shell.completes("pi-ts sessions show 01", `pi-ts sessions show ${sessionId}`);
      await shell.completes(
        "pi-ts sessions --session-dir a\\ folder show 01",
        `pi-ts sessions --session-dir a\\ folder show ${elsewhereId}`,
      );
      await shell.completes("pi-ts sessions --js", "pi-ts sessions --json ");
      await shell.completes("pi-ts --mode j", "pi-ts --mode json ");
      await shell.completes("pi-ts --mode=j", "pi-ts --mode=json ");
      await shell.completes("pi-ts -P lo", "pi-ts -P local ");
      await shell.completes("pi-ts -m deepseek-v4-p", "pi-ts -m deepseek-v4-pro");
      await shell.completes("pi-ts --model ti", "pi-ts --model tiny:1b ");
      await shell.completes("pi-ts --tools read,gr", "pi-ts --tools read,grep ");
      await shell.completes("pi-ts --record rec", "pi-ts --record recording.jsonl ");
      await shell.completes("pi-ts --session-dir a", "pi-ts --session-dir a\\ folder/");
      await shell.completes("pi-ts -p fix @rec", "pi-ts -p fix @recording.jsonl ");
    },
    30_000,
  );

  test.skipIf(Bun.which("zsh") === null)(
    "the script waits for a compinit that stands behind it",
    async () => {
      const lines = [`source ${dir.file("pi-ts.zsh")}`, "autoload -Uz compinit; compinit -u -D"];
      writeFileSync(dir.file("home/.zshrc"), `${lines.join("\n")}\n`);
      const command = ["zsh", "--no-globalrcs", "-i"];
      await using shell = await startShell(command, { PS1: "> " }, "unsetopt zle_bracketed_paste");
      await shell.completes("pi-ts sess", "pi-ts sessions ");
      rmSync(dir.file("home/.zshrc"));
    },
    30_000,
  );

  test.skipIf(Bun.which("zsh") === null)(
    "a shell without compinit is told what it needs, before its first prompt",
    () => {
      const script = `source ${dir.file("pi-ts.zsh")}; print $precmd_functions; $precmd_functions; print $precmd_functions`;
      const { stdout, stderr } = Bun.spawnSync(["zsh", "-f", "-c", script], { env });
      expect(stdout.toString()).toBe("_pi_ts_register\n\n");
      expect(stderr.toString()).toBe(
        "pi-ts: completions need compinit; ~/.zshrc has to call it: autoload -Uz compinit; compinit\n",
      );
    },
  );
});

describe(`fish${missing("fish")}`, () => {
  const fish = (...args: string[]) => {
    const { stdout, stderr, exitCode } = Bun.spawnSync(["fish", "--no-config", ...args], {
      env,
      cwd: dir.file("work"),
    });
    expect({ stderr: stderr.toString(), exitCode }).toEqual({ stderr: "", exitCode: 0 });
    return stdout.toString();
  };
  const offers = (line: string) => {
    const output = fish("-c", `source ${dir.file("pi-ts.fish")}; complete -C '${line}'`);
    const values = output.split("\n").flatMap((row) => row.split("\t")[0] || []);
    return values.map((value) => value.replace(/^--[a-z-]+=/, ""));
  };

  test.skipIf(Bun.which("fish") === null)("the script is valid", () => {
    fish("--no-execute", dir.file("pi-ts.fish"));
  });

  test.skipIf(Bun.which("fish") === null).each(cases)("%s", (line, offered) => {
    expect(offers(line).sort()).toEqual([...offered].sort());
  });

  test.skipIf(Bun.which("fish") === null)("files and folders where they are wanted", () => {
    expect(offers("pi-ts --record rec")).toEqual(["recording.jsonl"]);
    expect(offers("pi-ts --session-dir a")).toEqual(["a folder/"]);
    expect(offers("pi-ts -p fix @rec")).toEqual(["@recording.jsonl"]);
  });
});

interface Shell extends AsyncDisposable {
  /** Types a line and Tab, waits until it is completed, and empties the line. */
  completes(typed: string, completed: string): Promise<void>;
}

async function startShell(command: string[], variables: Record<string, string>, start: string): Promise<Shell> {
  let output = "";
  const text = () => Bun.stripANSI(output).replaceAll("\x07", "");
  const watch = watchText("the terminal", text);
  const child = Bun.spawn(command, {
    cwd: dir.file("work"),
    env: { ...env, ...variables, TERM: "dumb" },
    terminal: {
      cols: 200,
      rows: 50,
      data(_terminal, bytes) {
        output += Buffer.from(bytes).toString();
        watch.changed();
      },
    },
  });
  const terminal = child.terminal as Bun.Terminal;
  // Made of two texts, so that the echo of the line is not taken for its end.
  terminal.write(`${start}; echo rea""dy\r`);
  let from = await watch.until(/ready\r?\n/, { timeoutMs: 10_000 });
  return {
    async completes(typed, completed) {
      terminal.write(`${typed}\t`);
      const plain = completed.trimEnd().replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
      from = await watch.until(new RegExp(plain), { from, timeoutMs: 10_000 });
      terminal.write("\x15");
    },
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await child.exited;
      terminal.close();
    },
  };
}

test("the README's lines put each script where its shell looks", () => {
  const [lines = ""] = readmeBlocks("### Completion", "sh");
  mkdirSync(dir.file("home/.config/fish/completions"), { recursive: true });
  const { exitCode, stderr } = Bun.spawnSync(["bash", "-ec", lines], { env, cwd: dir.file("work") });
  expect({ exitCode, stderr: stderr.toString() }).toEqual({ exitCode: 0, stderr: "" });
  const asked = Bun.spawnSync(["bash", "-c", ". ~/.bashrc; complete -p pi-ts"], { env });
  expect(asked.stdout.toString()).toBe("complete -F _pi_ts pi-ts\n");
  expect(readFileSync(dir.file("home/.zshrc"), "utf8")).toStartWith("source <(pi-ts completions zsh)");
  expect(readFileSync(dir.file("home/.config/fish/completions/pi-ts.fish"), "utf8")).toStartWith("# fish completion");
});

test("an unknown shell, or none, is a usage error", async () => {
  for (const words of [[], ["bsh"], ["bash", "zsh"]]) {
    const { code, stdout, stderr } = await runCli(["completions", ...words]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).not.toBe("");
  }
  expect((await runCli(["completions", "bsh"])).stderr).toContain("Did you mean bash? It is one of bash, zsh, fish.");
  expect((await runCli(["completions", "--values", "x"])).stderr).not.toContain("zsh");
});
