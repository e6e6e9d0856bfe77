// The configuration that a project brings along, and what the user has said of it. Whoever wrote it may be a stranger, so it counts for nothing
// until the user trusts this content in this folder.
import { closeSync, constants, existsSync, fstatSync, openSync, readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { writePrivateFile } from "../util/private-file.ts";
import { repositoryRoot } from "../util/repository-root.ts";

export interface ProjectFile {
  /** Absolute. */
  readonly path: string;
  readonly text: string;
}

/** A project's config file larger than this is none. */
const maxBytes = 1024 * 1024;

/** `.pi-ts/config.toml` of the working directory, or else of the repository's root; never the user's own file. */
export async function findProjectFile(cwd: string, home: string): Promise<ProjectFile | undefined> {
  const own = () => realPath(join(home, "config.toml"));
  for (const folder of new Set([cwd, repositoryRoot(cwd)])) {
    const path = folder && join(folder, ".pi-ts", "config.toml");
    if (!path || !existsSync(path) || realPath(path) === own()) continue;
    const text = readText(path);
    if (text !== undefined) return { path, text };
  }
  return undefined;
}

/** `.mcp.json` of the working directory, or else of the repository's root. */
export async function findProjectMcpFile(cwd: string): Promise<ProjectFile | undefined> {
  for (const folder of new Set([cwd, repositoryRoot(cwd)])) {
    const path = folder && join(folder, ".mcp.json");
    const text = path && existsSync(path) ? readText(path) : undefined;
    if (path && text !== undefined) return { path, text };
  }
  return undefined;
}

/** The `.pi-ts` of the working directory, or else of the repository's root; never the user's own folder. */
export async function findProjectFolder(cwd: string, home: string): Promise<string | undefined> {
  const folders = new Set([cwd, repositoryRoot(cwd)]);
  const paths = [...folders].flatMap((folder) => (folder ? join(folder, ".pi-ts") : []));
  return paths.find((path) => existsSync(path) && realPath(path) !== realPath(home));
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

function readText(path: string): string | undefined {
  let fd: number | undefined;
  try {
    // Non-blocking, so that a FIFO under this name cannot hang the start.
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stat = fstatSync(fd);
    return stat.isFile() && stat.size <= maxBytes ? readFileSync(fd, "utf8") : undefined;
  } catch {
    return undefined;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

/** What the user has said of a project's file. */
export interface TrustStore {
  /** Undefined when never asked about this content in this place. */
  answer(file: ProjectFile): boolean | undefined;
  /** Throws the file system's error. */
  remember(file: ProjectFile, trusted: boolean): void;
}

/**
 * Answers by path and content, in `trust.json` of the home folder; one for each path, the latest. The path is where the project has the file: one
 * that is a link to another project's was never asked about.
 */
export function openTrustStore(home: string): TrustStore {
  const store = join(home, "trust.json");
  return {
    answer(file) {
      const entry = readAnswers(store)[file.path];
      return entry?.sha256 === digest(file.text) ? entry.trusted : undefined;
    },
    remember(file, trusted) {
      const answers = {
        ...readAnswers(store),
        [file.path]: { sha256: digest(file.text), trusted },
      };
      writePrivateFile(store, `${JSON.stringify(answers, null, 2)}\n`);
    },
  };
}

interface StoredAnswer {
  readonly sha256: string;
  readonly trusted: boolean;
}

/** A store that cannot be read, or not understood, trusts nothing. */
function readAnswers(path: string): Record<string, StoredAnswer> {
  try {
    const value: unknown = JSON.parse(readFileSync(path, "utf8"));
    if (typeof value !== "object" || value === null) return {};
    return Object.fromEntries(
      Object.entries(value).filter((entry): entry is [string, StoredAnswer] => isAnswer(entry[1])),
    );
  } catch {
    return {};
  }
}

function isAnswer(value: unknown): value is StoredAnswer {
  return (
    typeof value === "object" &&
    value !== null &&
    "sha256" in value &&
    typeof value.sha256 === "string" &&
    "trusted" in value &&
    typeof value.trusted === "boolean"
  );
}

function digest(text: string): string {
  return new Bun.CryptoHasher("sha256").update(text).digest("hex");
}
