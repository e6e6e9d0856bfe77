// A session's own model and thinking level, for a run that goes on in it without naming others.
import { type Flags, homeFolder, type LoadedFile, loadConfigFile } from "../config/config.ts";
import { thinkingLevels } from "../protocol/thinking-level.ts";
import { branchSettings } from "../protocol/tree.ts";
import { findProvider } from "../providers/catalog.ts";
import type { Session } from "../session/session.ts";
import type { Environment } from "../util/environment.ts";

export interface SettledFlags {
  readonly flags: Flags;
  /** What the user should know. */
  readonly notes: readonly string[];
}

/** The flags, with what the session says where they say nothing; its provider must be one that is still known. */
export async function withSessionSettings(
  flags: Flags,
  session: Session,
  env: Environment,
  project: LoadedFile | undefined,
): Promise<SettledFlags> {
  const { model, thinkingLevel } = branchSettings(session.entries(), session.leafId());
  const notes: string[] = [];
  let settled = flags;
  // Another model may think although the session's could not.
  const isOther = flags.model !== undefined && thinkingLevel === "off";
  const isLevel = thinkingLevel !== undefined && thinkingLevels.includes(thinkingLevel);
  if (flags.thinking === undefined && isLevel && !isOther) {
    settled = { ...settled, thinking: thinkingLevel };
  }
  if (model && flags.provider === undefined && flags.model === undefined) {
    const own = await loadConfigFile(homeFolder(env));
    const isKnown =
      findProvider(model.provider) !== undefined ||
      [own, project].some((file) => Object.hasOwn(file?.content.providers ?? {}, model.provider));
    // In one text, so that an id with a slash of its own stays whole.
    if (isKnown) settled = { ...settled, model: `${model.provider}/${model.modelId}` };
    else notes.push(`The session's provider ${model.provider} is not known here; going on with the configured one`);
  }
  return { flags: settled, notes };
}
