// The programs that tools start: bash, and ripgrep where there is one.
import { locateRipgrep } from "../../tools/search/ripgrep.ts";
import { findBash } from "../../util/find-bash.ts";
import { killGroup, spawnGroup } from "../../util/process-group.ts";
import type { Check } from "./check.ts";

export const bashCheck: Check = {
  name: "bash",
  async run({ env, cwd }, signal) {
    const program = Bun.which(findBash(env), { PATH: env.PATH ?? "" });
    if (program === null) {
      return {
        verdict: "failure",
        text: "not on the PATH, so no command can be run",
        next: "Install bash.",
        facts: { path: null },
      };
    }
    const version = await firstLine([program, "-c", "echo $BASH_VERSION"], cwd, signal);
    if (version === undefined) {
      return {
        verdict: "failure",
        text: `${program} does not run`,
        next: "Install bash anew.",
        facts: { path: program },
      };
    }
    return { verdict: "ok", text: `${version} (${program})`, facts: { path: program, version } };
  },
};

export const ripgrepCheck: Check = {
  name: "ripgrep",
  async run({ env, cwd }, signal) {
    const without = "grep searches by itself: the same results, slower in large projects";
    const path = locateRipgrep(env, cwd);
    if (path === undefined) {
      const other = Bun.which("rg", { PATH: env.PATH ?? "" });
      return {
        verdict: "warning",
        text: `${other === null ? "not on the PATH" : `${other} lies in the working directory and is not used`}; ${without}`,
        next: other === null ? "Install ripgrep (rg) for speed." : "Put another one on the PATH.",
        facts: { path: other, used: false },
      };
    }
    const version = await firstLine([path, "--no-config", "--version"], cwd, signal);
    if (version === undefined) {
      return {
        verdict: "warning",
        text: `${path} does not run; ${without}`,
        next: "Install ripgrep anew.",
        facts: { path, used: false },
      };
    }
    return {
      verdict: "ok",
      text: `${version.replace(/^ripgrep /, "")} (${path})`,
      facts: { path, version, used: true },
    };
  },
};

const versionMs = 3000;

/** Of what a program prints that ends well; undefined for another one. */
async function firstLine(command: string[], cwd: string, signal: AbortSignal): Promise<string | undefined> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(versionMs)]);
  try {
    const child = spawnGroup(command, { cwd, env: {}, output: "pipe" });
    const kill = () => killGroup(child.pid, "SIGKILL");
    limit.addEventListener("abort", kill);
    const [output, { code }] = await Promise.all([new Response(child.stdout).text(), child.exited]);
    limit.removeEventListener("abort", kill);
    return code === 0 ? output.split("\n", 1)[0]?.trim() : undefined;
  } catch {
    return undefined;
  }
}
