// Whether a project's own configuration is in force: after --trust-project, or after the user's yes to this content in this place.
import { homeFolder, type LoadedFile } from "../config/config.ts";
import type { McpJson } from "../config/mcp-json.ts";
import { findProjectFile, findProjectMcpFile, openTrustStore, type ProjectFile } from "../config/project.ts";
import type { Environment } from "../util/environment.ts";
import type { AppError } from "../util/error.ts";

export { findProjectFolder, type ProjectFile } from "../config/project.ts";

export interface ProjectOptions {
  readonly cwd: string;
  readonly env: Environment;
  /** It counts in this run or does not, without a question and without being remembered; undefined: as the user has said. */
  readonly trust: boolean | undefined;
  /** Asks the user, where there is one. */
  readonly ask?: ((file: ProjectFile) => Promise<boolean>) | undefined;
  /** Is told where settings come from, and what is left out. */
  readonly notify: (text: string) => void;
}

/** The project's file when it is in force; undefined when there is none or it is not trusted. Throws `AppError` `config` when it is wrong. */
export async function loadProjectFile(options: ProjectOptions): Promise<LoadedFile | undefined> {
  const file = await findProjectFile(options.cwd, homeFolder(options.env));
  if (!file || !(await isTrusted(file, options))) return undefined;
  const { parseConfigFile } = await import("../config/file.ts");
  const content = parseConfigFile(file.text, file.path);
  tellForce("The project's configuration is", file, options);
  return { path: file.path, content, text: file.text };
}

/** The servers of the project's `.mcp.json`, by the same rules; a file that cannot be understood is told and left out. */
export async function loadProjectMcp(options: ProjectOptions): Promise<McpJson | undefined> {
  const file = await findProjectMcpFile(options.cwd);
  if (!file || !(await isTrusted(file, options))) return undefined;
  const { parseMcpJson } = await import("../config/mcp-json.ts");
  try {
    const servers = parseMcpJson(file.text, file.path, "project");
    tellForce("The project's MCP servers are", file, options);
    for (const problem of servers.problems) options.notify(problem);
    return servers;
  } catch (error) {
    options.notify(`The project's MCP servers are left out: ${(error as AppError).message}`);
    return undefined;
  }
}

async function isTrusted(file: ProjectFile, { env, trust, ask, notify }: ProjectOptions): Promise<boolean> {
  const store = openTrustStore(homeFolder(env));
  const known = trust ?? store.answer(file);
  const trusted = known ?? (await ask?.(file)) ?? false;
  if (known === undefined && ask) keep(() => store.remember(file, trusted), notify);
  if (!trusted && trust !== false) {
    notify(
      `${file.path} is not in force: a project's configuration counts only when trusted (--trust-project does, for one run)`,
    );
  }
  return trusted;
}

function tellForce(what: string, { path }: ProjectFile, { trust, notify }: ProjectOptions): void {
  notify(`${what} in force: ${path} (${trust ? "--trust-project" : "trusted by you"})`);
}

function keep(write: () => void, notify: (text: string) => void): void {
  try {
    write();
  } catch (error) {
    notify(`The answer is not kept: ${(error as Error).message}`);
  }
}
