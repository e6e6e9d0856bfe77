// Config files, and where each value in force comes from.
import { requirePrice } from "../../config/config.ts";
import { type Origin, type Setting, settingsOf } from "../../config/origins.ts";
import { catalog, defaultProvider } from "../../providers/catalog.ts";
import { type AppError, toAppError } from "../../util/error.ts";
import { loadPermissions } from "../permissions.ts";
import { type Check, type Detail, type FileState, fromError, type Surroundings } from "./check.ts";

export const configCheck: Check = {
  name: "config",
  async run(surroundings) {
    const { files, problem } = surroundings;
    const states = files.map(({ kind, path, state }) => ({ kind, path, state }));
    if (problem) {
      const next = problem.hint ?? "Correct it: no run begins before that.";
      return { ...fromError(problem), next, facts: { code: problem.code, files: states } };
    }
    const settings = settingsHere(surroundings);
    const wrong = await checkValues(surroundings);
    const untrusted = files.find(({ state }) => state === "not trusted");
    const facts = { files: states, settings: settings.map(({ key, value, origin }) => ({ key, value, ...origin })) };
    const details = toDetails(settings, files);
    if (wrong) return { ...fromError(wrong), details, facts };
    const text = files.map(describeFile).join("; ");
    if (!untrusted) return { verdict: "ok", text, details, facts };
    const next = "A project's file counts once you trust it in the REPL, or with --trust-project.";
    return { verdict: "warning", text, next, details, facts };
  },
};

function describeFile({ kind, path, state }: FileState): string {
  const what = kind === "project" ? "the project's " : "";
  if (state === "in force") return `${what}${path}`;
  return state === "not trusted" ? `${what}${path} is not in force` : `no ${path}`;
}

function settingsHere({ flags, env, loaded, config }: Surroundings): Setting[] {
  return config ? settingsOf({ flags, env, files: loaded, catalog, defaultProvider, config }) : [];
}

/** The rules and names of tools, and a limit that cannot be kept; whether a sandbox works is another check's. */
async function checkValues({ config, cwd, env }: Surroundings): Promise<AppError | undefined> {
  if (!config) return undefined;
  try {
    requirePrice(config);
    await loadPermissions({ ...config, permissions: { ...config.permissions, sandbox: false } }, cwd, env);
    return undefined;
  } catch (error) {
    return toAppError(error);
  }
}

/** What somebody set, a line each; and the defaults together in one. */
function toDetails(settings: readonly Setting[], files: Surroundings["files"]): Detail[] {
  const isSet = ({ origin }: Setting) => origin.from !== "default";
  const set = settings
    .filter(isSet)
    .map(({ key, value, origin }) => ({ name: key, value: show(value), note: describe(origin, files) }));
  const preset = settings.filter((setting) => !isSet(setting) && setting.value !== undefined);
  const defaults = preset.map(({ key, value }) => `${key}=${show(value)}`).join(", ");
  return [...set, { name: "defaults", value: defaults }];
}

function show(value: Setting["value"]): string {
  if (value === undefined) return "none";
  return typeof value === "object" ? `[${value.join(", ")}]` : String(value);
}

function describe(origin: Origin, files: readonly FileState[]): string {
  switch (origin.from) {
    case "flag":
      return origin.flag;
    case "environment":
      return `$${origin.variable}`;
    case "file": {
      const isProject = files.some(({ kind, path }) => kind === "project" && path === origin.path);
      const place = `${origin.path}${origin.line === undefined ? "" : `:${origin.line}`}`;
      return isProject ? `the project's ${place}` : place;
    }
    case "model":
      return "the only provider of this model";
    case "default":
      return "default";
  }
}
