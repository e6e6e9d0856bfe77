// Whether a project's own configuration is in force: after --trust-project, or after the user's yes to this content in this place.
import { type Environment, homeFolder, type LoadedFile } from "../config/config.ts";
import { findProjectFile, openTrustStore, type ProjectFile } from "../config/project.ts";

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
export async function loadProjectFile({
  cwd,
  env,
  trust,
  ask,
  notify,
}: ProjectOptions): Promise<LoadedFile | undefined> {
  const home = homeFolder(env);
  const file = await findProjectFile(cwd, home);
  if (!file) return undefined;
  const store = openTrustStore(home);
  const known = trust ?? store.answer(file);
  const trusted = known ?? (await ask?.(file)) ?? false;
  if (known === undefined && ask) keep(() => store.remember(file, trusted), notify);
  if (!trusted) {
    if (trust === false) return undefined;
    notify(
      `${file.path} is not in force: a project's configuration counts only when trusted (--trust-project does, for one run)`,
    );
    return undefined;
  }
  const { parseConfigFile } = await import("../config/file.ts");
  const content = parseConfigFile(file.text, file.path);
  notify(`The project's configuration is in force: ${file.path} (${trust ? "--trust-project" : "trusted by you"})`);
  return { path: file.path, content, text: file.text };
}

function keep(write: () => void, notify: (text: string) => void): void {
  try {
    write();
  } catch (error) {
    notify(`The answer is not kept: ${(error as Error).message}`);
  }
}
