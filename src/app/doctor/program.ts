// The program itself, and the terminal it talks to.
import { isSameFile } from "../../util/paths.ts";
import { version } from "../../util/version.ts";
import type { Check } from "./check.ts";

export const programCheck: Check = {
  name: "pi-ts",
  run({ env }) {
    const { platform, arch, execPath: path } = process;
    const facts = { version, platform, arch, bun: Bun.version, path };
    const text = `${version} for ${platform}-${arch}, Bun ${Bun.version} (${path})`;
    const onPath = Bun.which("pi-ts", { PATH: env.PATH ?? "" });
    if (onPath === null || isSameFile(onPath, path)) return { verdict: "ok", text, facts };
    const next = `Remove one of them, or put ${path} first.`;
    return { verdict: "warning", text: `${text}; another one is first on the PATH: ${onPath}`, next, facts };
  },
};

export const terminalCheck: Check = {
  name: "terminal",
  run({ env, isTerminal }) {
    const isInteractive = isTerminal(0) && isTerminal(1);
    const { TERM: term = "", NO_COLOR } = env;
    const { columns, rows } = isTerminal(1) ? process.stdout : {};
    const facts = { interactive: isInteractive, term, columns: columns ?? null, rows: rows ?? null };
    if (!isInteractive) return { verdict: "ok", text: "none on stdin and stdout: tasks run one-shot", facts };
    if (term === "" || term === "dumb") {
      const next = "Set TERM to what the terminal is, such as xterm-256color.";
      return {
        verdict: "warning",
        text: `TERM is ${term || "not set"}: no colours, and keys may not work`,
        next,
        facts,
      };
    }
    const colours = NO_COLOR ? "no colours (NO_COLOR)" : "colours";
    return { verdict: "ok", text: `${term}, ${columns} × ${rows}, ${colours}`, facts };
  },
};
