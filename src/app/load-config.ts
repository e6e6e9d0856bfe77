// The configuration of a run, with the catalog behind it.
import {
  type Config,
  type Environment,
  type Flags,
  homeFolder,
  loadConfigFile,
  resolveConfig,
} from "../config/config.ts";
import { catalog, defaultProvider } from "../providers/catalog.ts";

/** Flags over environment over config.toml over defaults. Throws `AppError` (`usage`, `config`). */
export async function loadConfig(flags: Flags, env: Environment): Promise<Config> {
  return resolveConfig(flags, env, await loadConfigFile(homeFolder(env)), catalog, defaultProvider);
}
