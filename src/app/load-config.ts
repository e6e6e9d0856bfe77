// The configuration of a run, with the catalog behind it.
import {
  type Config,
  type Flags,
  homeFolder,
  type LoadedFile,
  loadConfigFile,
  resolveConfig,
} from "../config/config.ts";
import { catalog, defaultProvider } from "../providers/catalog.ts";
import type { Environment } from "../util/environment.ts";

/** Flags over environment over the project's file, where it is trusted, over config.toml over defaults. Throws `AppError` (`usage`, `config`). */
export async function loadConfig(flags: Flags, env: Environment, project?: LoadedFile): Promise<Config> {
  const own = await loadConfigFile(homeFolder(env));
  return resolveConfig(flags, env, project ? [project, own] : [own], catalog, defaultProvider);
}
