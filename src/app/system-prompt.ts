// The system prompt: who the agent is, where it works, how it should go about it. Fixed at start, so that every request begins with the same bytes.
import { closeSync, constants, existsSync, fstatSync, openSync, readSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { cleanText } from "../agent/repair-history.ts";
import { promptText } from "../agent/text.ts";
import type { Config } from "../config/config.ts";
import type { SystemMessage, ToolSpec } from "../protocol/message.ts";
import { isInside } from "../util/paths.ts";

const preamble =
  "You are pi-ts, a coding agent that works in the user's terminal. You do programming tasks by reading and changing files and by running commands.";

const rules = `How to work:
- Prefer tools over guessing: read the files and run the commands that tell you, instead of assuming.
- Read errors closely. When something fails, find out why and try another way; do not repeat the same call unchanged.
- Change only what the task needs, and check the result, for instance by running the tests.
- Say plainly what you did, and what did not work. Be concise.`;

/** Bytes of a context file that go into the prompt; a longer one is cut, with a note. */
const maxContextFile = 64 * 1024;

/** The prompt that a run in `cwd` would send now, as text. */
export function systemPromptText(options: Omit<PromptOptions, "now">): string {
  return promptText(buildSystemMessage({ ...options, now: new Date() }));
}

export interface PromptOptions {
  readonly cwd: string;
  readonly tools: readonly ToolSpec[];
  readonly contextFiles: boolean;
  /** Said in the place of who the agent is and how it works, and behind everything else. */
  readonly systemPrompt?: Config["systemPrompt"] | undefined;
  /** What is said of the skills. */
  readonly skills?: string | undefined;
  /** What MCP servers say of themselves. */
  readonly servers?: string | undefined;
  readonly now: Date;
}

export function buildSystemMessage({
  cwd,
  tools,
  contextFiles,
  systemPrompt,
  skills,
  servers,
  now,
}: PromptOptions): SystemMessage {
  const { replacement, appended = [] } = systemPrompt ?? {};
  const own = replacement === undefined;
  const behind = appended.map(cleanText).filter((text) => text.trim() !== "");
  return {
    role: "system",
    content: "",
    sections: {
      preamble: own ? preamble : cleanText(replacement),
      tools: own ? toolsText(tools) : "",
      rules: own ? rules : "",
      docs: contextFiles ? contextDocs(cwd) : "",
      ...(skills === undefined ? {} : { skills: cleanText(skills) }),
      ...(servers === undefined ? {} : { servers: cleanText(servers) }),
      cwd: `Working directory: ${cwd}\nOperating system: ${operatingSystem()}\nDate: ${now.toISOString().slice(0, 10)} (UTC)`,
      ...(behind.length > 0 ? { appended: behind.join("\n\n") } : {}),
    },
    toolsAdded: [...tools],
    timestamp: now.getTime(),
  };
}

/** What has to be said for `system` to be in force where `told` was; undefined when nothing has. Sections and tools that are gone are named too. */
export function systemChange(told: SystemMessage, system: SystemMessage): SystemMessage | undefined {
  if (told === system) return undefined;
  const before = new Map(Object.entries(told.sections ?? {}));
  const after = new Map(Object.entries(system.sections ?? {}));
  const sections = [
    ...[...after].filter(([name, text]) => before.get(name) !== text),
    ...[...before].flatMap(([name, text]) => (after.has(name) || text === null ? [] : [[name, null] as const])),
  ];
  const [old, tools] = [told.toolsAdded ?? [], system.toolsAdded ?? []];
  const added = tools.filter((tool) => {
    const other = old.find(({ name }) => name === tool.name);
    return other !== tool && JSON.stringify(other) !== JSON.stringify(tool);
  });
  const removed = old.filter(({ name }) => !tools.some((tool) => tool.name === name));
  const isOther = promptText({ ...told, sections: {} }) !== promptText({ ...system, sections: {} });
  if (sections.length === 0 && added.length === 0 && removed.length === 0 && !isOther) return undefined;
  return {
    role: "system",
    content: system.content,
    ...(sections.length > 0 ? { sections: Object.fromEntries(sections) } : {}),
    ...(added.length > 0 ? { toolsAdded: added } : {}),
    ...(removed.length > 0 ? { toolsRemoved: removed.map(({ name }) => ({ name })) } : {}),
    timestamp: system.timestamp,
  };
}

function toolsText(tools: readonly ToolSpec[]): string {
  return `Tools: ${tools.map(({ name }) => name).join(", ") || "none"}. Paths are relative to the working directory unless absolute.`;
}

function operatingSystem(): string {
  const names: Readonly<Record<string, string>> = { linux: "Linux", darwin: "macOS", win32: "Windows" };
  return `${names[process.platform] ?? process.platform} (${process.arch})`;
}

/** The AGENTS.md files that apply to `cwd`, outermost first. */
function contextDocs(cwd: string): string {
  const docs: string[] = [];
  const folders = contextFolders(cwd);
  const [root = cwd] = folders;
  for (const folder of folders) {
    const path = join(folder, "AGENTS.md");
    const text = readContextFile(path, root);
    if (text !== undefined && text.trim() !== "") docs.push(`Instructions from ${path}:\n\n${text.trim()}`);
  }
  return docs.join("\n\n");
}

/** From the repository's root down to `cwd`; just `cwd` outside of a repository. */
function contextFolders(cwd: string): string[] {
  const folders: string[] = [];
  for (let folder = cwd; ; folder = dirname(folder)) {
    folders.unshift(folder);
    if (existsSync(join(folder, ".git"))) return folders;
    if (dirname(folder) === folder) return [cwd];
  }
}

/** A link out of `root` counts for other Markdown alone: a stranger's repository could make it lead to a key. */
function readContextFile(path: string, root: string): string | undefined {
  // Mostly there is none, and to be told so by an error takes longer.
  if (!existsSync(path)) return undefined;
  const real = realpathSync(path);
  if (!isInside(root, real) && !/\.md$/i.test(real)) return `(left out: it is a link out of the project, to ${real})`;
  let fd: number;
  try {
    // Non-blocking, so that a FIFO under this name cannot hang the start.
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch {
    return undefined;
  }
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile()) return undefined;
    const bytes = new Uint8Array(Math.min(stat.size, maxContextFile));
    const length = readSync(fd, bytes, 0, bytes.length, 0);
    // A character that the limit cuts in two is left out; a prompt must be well-formed in every request.
    const text = new TextDecoder().decode(bytes.subarray(0, length), { stream: stat.size > length });
    const note = stat.size > length ? `\n(cut: the file has ${stat.size} bytes, these are the first ${length})` : "";
    return `${cleanText(text)}${note}`;
  } finally {
    closeSync(fd);
  }
}
