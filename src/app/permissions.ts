// What the gate of a run goes by, made from the configuration; the code behind rules, selections and sandboxes is loaded only where one is used.
import { realpathSync } from "node:fs";
import type { Config } from "../config/config.ts";
import { foreignTools } from "../permission/foreign-tools.ts";
import type { PolicyOptions } from "../permission/policy.ts";
import type { Sandbox } from "../permission/sandbox.ts";
import { builtinTools } from "../tools/index.ts";
import type { ToolSet } from "../tools/tool.ts";
import type { Environment } from "../util/environment.ts";
import { isOutput } from "../util/output-folder.ts";
import { realTarget } from "../util/paths.ts";

export interface Permissions {
  readonly policy: PolicyOptions;
  /** The tools as far as they are offered; the others can be named, for the gate to refuse. */
  readonly tools: ToolSet;
  readonly sandbox?: Sandbox | undefined;
}

/** Throws `AppError` (`usage`, `config`) for a rule, a name or a sandbox that cannot be used. */
export async function loadPermissions(
  config: Pick<Config, "home" | "permissions">,
  cwd: string,
  env: Environment,
  /** Whether a tool of an MCP server only reads; asked when there are such tools. */
  reads?: (toolName: string) => boolean,
): Promise<Permissions> {
  const { yolo, readOnly, tools, excludeTools, allow, deny, sandbox, sandboxNet } = config.permissions;
  const all = builtinTools();
  const known = all.specs.map(({ name }) => name);
  const realCwd = realWorkingDirectory(cwd);
  const rules =
    allow.length + deny.length === 0
      ? undefined
      : (await import("../permission/rules.ts")).createRules(allow, deny, { realCwd, tools: known });
  const withheld =
    readOnly || tools || excludeTools.length > 0
      ? (await import("../permission/tool-selection.ts")).createWithheld(
          { readOnly, tools, excludeTools, reads },
          known,
        )
      : undefined;
  const box = sandbox
    ? (await import("../permission/sandbox.ts")).createSandbox({
        cwd,
        ownFolder: config.home,
        network: sandboxNet,
        env,
      })
    : undefined;
  return {
    policy: { realCwd, ownFolder: () => realFolder(config.home), isOutput, yolo, withheld, rules },
    tools: withheld ? offered(all, withheld) : all,
    sandbox: box,
  };
}

/** The tools that there are by themselves. */
export function builtinToolNames(): string[] {
  return builtinTools().specs.map(({ name }) => name);
}

/** The tools that were named, to be offered or not, although only pi has them. */
export function foreignToolsIn({ tools = [], excludeTools }: Config["permissions"]): string[] {
  return [...tools, ...excludeTools].map((name) => name.replace(/^[+-]/, "")).filter((name) => foreignTools.has(name));
}

/** The same, with further files that may be read wherever they are. */
export function withReadable(permissions: Permissions, isReadable: (realPath: string) => boolean): Permissions {
  const { policy } = permissions;
  return {
    ...permissions,
    policy: { ...policy, isOutput: (path) => isReadable(path) || (policy.isOutput?.(path) ?? false) },
  };
}

/** The built-in tools, and behind them those of MCP servers as far as they are offered. */
export function withServerTools({ tools, policy }: Permissions, further: ToolSet): ToolSet {
  const { withheld } = policy;
  const { specs } = withheld ? offered(further, withheld) : further;
  return {
    specs: [...tools.specs, ...specs],
    load: async (name) => (await tools.load(name)) ?? further.load(name),
  };
}

function offered(tools: ToolSet, withheld: (name: string) => string | undefined): ToolSet {
  return { specs: tools.specs.filter(({ name }) => withheld(name) === undefined), load: tools.load };
}

/** Taken at the start, so that whatever stands in its place later is another folder. That of the process is real already, but on Windows. */
function realWorkingDirectory(cwd: string): string {
  return cwd === process.cwd() && process.platform !== "win32" ? cwd : realpathSync(cwd);
}

function realFolder(path: string): string | undefined {
  try {
    return realTarget(path);
  } catch {
    return undefined;
  }
}
