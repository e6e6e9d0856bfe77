// The models that take over when one is overloaded, limited or out of reach, as `--fallback` names them.
import { thinkingLevels } from "../protocol/thinking-level.ts";
import { AppError } from "../util/error.ts";
import type { LoadedModel, ModelChoice } from "./model-choice.ts";

/** Ready to be asked, in their order. Throws `AppError` (`usage`, `config`, `missing_key`) for one that could not be. */
export async function loadFallbacks(names: string, models: Pick<ModelChoice, "loadNamed">): Promise<LoadedModel[]> {
  const named = names.split(",").map((name) => name.trim());
  const wanted = named.filter((name) => name !== "");
  if (wanted.length === 0) throw new AppError("usage", "--fallback names no model");
  for (const name of wanted) refuseLevel(name);
  return Promise.all(wanted.map((name) => models.loadNamed(name).catch((error) => rethrow(error, name))));
}

/** Elsewhere a level may stand behind a model; here it would pass for a part of its id until the day it is asked. */
function refuseLevel(name: string): void {
  const level = thinkingLevels.find((known) => name.endsWith(`:${known}`));
  if (level === undefined) return;
  throw new AppError("usage", `--fallback ${name}: a model that takes over thinks as much as the run does`, {
    hint: `Leave :${level} out; --thinking sets it for the run.`,
  });
}

function rethrow(error: unknown, name: string): never {
  if (!(error instanceof AppError)) throw error;
  throw new AppError(error.code, `--fallback ${name}: ${error.message}`, { hint: error.hint, cause: error });
}
