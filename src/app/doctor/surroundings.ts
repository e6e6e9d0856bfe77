// Gathers what the checks look at. What is broken here is a finding later, never an end.
import { join } from "node:path";
import {
  type Config,
  type Flags,
  homeFolder,
  type LoadedFile,
  loadConfigFile,
  resolveConfig,
} from "../../config/config.ts";
import { findProjectFile } from "../../config/project.ts";
import { catalog, defaultProvider } from "../../providers/catalog.ts";
import { type AppError, toAppError } from "../../util/error.ts";
import { loadProjectFile } from "../project.ts";
import type { FileState, Surroundings } from "./check.ts";

type Given = "cwd" | "env" | "flags" | "sessionDir" | "trust" | "mcp" | "isTerminal";

export interface DoctorOptions extends Pick<Surroundings, Given> {
  /** Ask every provider there is, not just the chosen one. */
  readonly allProviders: boolean;
}

export async function gatherSurroundings(options: DoctorOptions): Promise<Surroundings> {
  const { allProviders, ...given } = options;
  const { env, flags } = given;
  const home = homeFolder(env);
  const read = [await readProjectFile(options, home), await readOwnFile(home)].filter((file) => file !== undefined);
  const files = read.map(({ state }) => state);
  const loaded = read.flatMap(({ file }) => file ?? []);
  const wrong = files.find(({ problem }) => problem)?.problem;
  const resolved = wrong ?? resolve(flags, options, loaded);
  const config = resolved instanceof Error ? undefined : resolved;
  const problem = resolved instanceof Error ? resolved : undefined;
  const others = config && allProviders ? otherProviders(config, options, loaded) : [];
  const providers = config ? [config, ...others] : [];
  return { ...given, home, files, loaded, config, problem, providers };
}

interface ReadFile {
  readonly state: FileState;
  readonly file?: LoadedFile;
}

async function readOwnFile(home: string): Promise<ReadFile> {
  const path = join(home, "config.toml");
  try {
    const file = await loadConfigFile(home);
    return { state: { kind: "own", path, state: file.text === undefined ? "not there" : "in force" }, file };
  } catch (error) {
    return { state: { kind: "own", path, state: "wrong", problem: toAppError(error) } };
  }
}

async function readProjectFile({ cwd, env, trust }: DoctorOptions, home: string): Promise<ReadFile | undefined> {
  const found = await findProjectFile(cwd, home);
  if (!found) return undefined;
  const { path } = found;
  try {
    const file = await loadProjectFile({ cwd, env, trust, notify: () => {} });
    if (!file) return { state: { kind: "project", path, state: "not trusted" } };
    return { state: { kind: "project", path, state: "in force" }, file };
  } catch (error) {
    return { state: { kind: "project", path, state: "wrong", problem: toAppError(error) } };
  }
}

function resolve(flags: Flags, { env }: DoctorOptions, files: readonly LoadedFile[]): Config | AppError {
  try {
    return resolveConfig(flags, env, files, catalog, defaultProvider);
  } catch (error) {
    return toAppError(error);
  }
}

/** All but the chosen one, each at its own address. A provider that cannot be resolved shows as soon as it is chosen. */
function otherProviders(chosen: Config, options: DoctorOptions, files: readonly LoadedFile[]): Config[] {
  const configured = files.flatMap(({ content }) => Object.keys(content.providers ?? {}));
  const names = new Set([...catalog.map(({ name }) => name), ...configured]);
  names.delete(chosen.provider.name);
  const { PI_BASE_URL: _, PI_MODEL: __, ...env } = options.env;
  return [...names].flatMap((provider) => {
    const config = resolve({ provider }, { ...options, env }, files);
    // What it has no default for is not asked of it here.
    const another = config instanceof Error ? resolve({ provider, model: "any" }, { ...options, env }, files) : config;
    return another instanceof Error ? [] : [another];
  });
}
