// The command line of the bench.
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";

export interface BenchOptions {
  /** Only rows with this in their name; all when empty. */
  readonly only: string;
  readonly peers: boolean;
  /** Where peers are looked for before the PATH. */
  readonly peersDir: string | undefined;
}

export const usage = `usage: bun run bench [NAME] [--peers] [--peers-dir FOLDER]
  NAME                only the rows with NAME in their name
  --peers             pi, codex, claude and opencode too, as far as they are on the PATH
  --peers-dir FOLDER  look for them there first: in FOLDER, its bin or its node_modules/.bin; means --peers`;

/** Throws an error for the user where the words make no sense. */
export function parseOptions(args: readonly string[]): BenchOptions | "help" {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { peers: { type: "boolean" }, "peers-dir": { type: "string" }, help: { type: "boolean", short: "h" } },
  });
  if (values.help) return "help";
  if (positionals.length > 1) throw new Error(`one name at most, not ${positionals.length}: ${positionals.join(" ")}`);
  const folder = values["peers-dir"];
  const peersDir = folder === undefined ? undefined : resolve(folder);
  if (peersDir !== undefined && !existsSync(peersDir)) throw new Error(`there is no folder ${peersDir}`);
  return { only: positionals[0] ?? "", peers: values.peers === true || peersDir !== undefined, peersDir };
}
