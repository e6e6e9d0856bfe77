// What one check of `pi-ts doctor` is: it looks at one part of a run's surroundings and says how that is. Checks are files of their own in
// this folder, and `index.ts` lists them.
import type { Config, Flags, LoadedFile } from "../../config/config.ts";
import type { Environment } from "../../util/environment.ts";
import type { AppError } from "../../util/error.ts";
import { redactAll } from "../../util/redact.ts";

/** `warning`: it works, but not as one might think; `skipped`: it could not be looked at, or does not matter here. */
export type Verdict = "ok" | "warning" | "failure" | "skipped";

export interface Finding {
  readonly verdict: Verdict;
  /** What of several things of a kind this is about, such as a provider's name. */
  readonly about?: string;
  /** One line. */
  readonly text: string;
  /** What to do next, for a verdict that asks for it. */
  readonly next?: string | undefined;
  /** Further lines for people. */
  readonly details?: readonly Detail[];
  /** The same for programs, as plain data. Without secrets, as all the rest. */
  readonly facts?: Readonly<Record<string, unknown>>;
}

export interface Detail {
  readonly name: string;
  readonly value: string;
  /** Where it comes from, or what it is for. */
  readonly note?: string | undefined;
}

export interface Check {
  readonly name: string;
  /** Nothing else can go on while it runs, so it goes first: a server's silence is not to be measured meanwhile. */
  readonly blocks?: true;
  /** May throw; it has until `signal` aborts. */
  run(surroundings: Surroundings, signal: AbortSignal): Finding | Finding[] | Promise<Finding | Finding[]>;
}

/** What a run in this place would begin with. */
export interface Surroundings {
  readonly cwd: string;
  readonly env: Environment;
  readonly flags: Flags;
  readonly sessionDir: string | undefined;
  /** As in `ProjectOptions`. */
  readonly trust: boolean | undefined;
  /** The files of MCP servers that the command line names; undefined where there are to be no servers. */
  readonly mcp: { readonly files: readonly string[] } | undefined;
  readonly isTerminal: (fd: 0 | 1 | 2) => boolean;
  /** The program's own folder. */
  readonly home: string;
  /** The config files that were looked for. */
  readonly files: readonly FileState[];
  /** Those of them in force; the first counts most. */
  readonly loaded: readonly LoadedFile[];
  /** Undefined when it cannot be used; then `problem` says why. */
  readonly config: Config | undefined;
  readonly problem: AppError | undefined;
  /** The providers to ask: the chosen one first. Empty without a configuration. */
  readonly providers: readonly Config[];
}

export interface FileState {
  readonly kind: "own" | "project";
  readonly path: string;
  readonly state: "in force" | "not there" | "not trusted" | "wrong";
  readonly problem?: AppError;
}

/** What cannot be looked at without a configuration. */
export const notChecked: Finding = {
  verdict: "skipped",
  text: "not checked, since the configuration cannot be used",
};

/** A finding without these texts. Its own words stay, since a secret may be any word, such as the name of a verdict. */
export function hideSecretsIn<Told extends Finding>(finding: Told, secrets: readonly (string | undefined)[]): Told {
  const { verdict, about } = finding;
  return { ...redactAll(finding, secrets), verdict, ...(about === undefined ? {} : { about }) };
}

/** The finding of what an `AppError` says. */
export function fromError(error: AppError, verdict: Verdict = "failure"): Finding {
  return { verdict, text: error.message, next: error.hint, facts: { code: error.code } };
}
