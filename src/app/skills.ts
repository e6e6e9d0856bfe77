// Skills: folders with a SKILL.md, which the system prompt names and the model reads when a task calls for one.
import { type Dirent, readdirSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { CommandInfo } from "../protocol/rpc.ts";
import { headText, readMarkdown } from "./frontmatter.ts";
import type { Place } from "./resources.ts";

export interface Skill {
  readonly name: string;
  readonly description: string;
  /** Of its SKILL.md, absolute. */
  readonly path: string;
  /** Only `/skill:name` uses it; the model is not told of it. */
  readonly isHidden: boolean;
  readonly sourceInfo: CommandInfo["sourceInfo"];
}

const fileName = "SKILL.md";
/** How deep below a place skills are looked for, and in how many folders. */
const maxDepth = 4;
const maxFolders = 2000;

/** In the order of the places; of several with one name the first counts. `notify` is told of those that cannot be used. */
export function findSkills(places: readonly Place[], notify: (text: string) => void): Skill[] {
  const skills = new Map<string, Skill>();
  for (const place of places) {
    const files = skillFiles(place.path);
    if (files.length === 0 && place.source === "cli") notify(`There is no skill in ${place.path}`);
    for (const path of files) {
      const skill = loadSkill(path, place, notify);
      const first = skill && skills.get(skill.name);
      if (first) notify(`The skill ${skill.path} is left out: ${first.path} has the same name`);
      else if (skill) skills.set(skill.name, skill);
    }
  }
  return [...skills.values()];
}

function loadSkill(path: string, { source, scope }: Place, notify: (text: string) => void): Skill | undefined {
  try {
    const { head } = readMarkdown(path);
    const name = headText(head, "name") ?? basename(dirname(path));
    const description = headText(head, "description");
    if (!/^[\w.-]{1,64}$/.test(name)) throw new Error(`'${name}' is no name for one`);
    if (description === undefined) throw new Error("it has no description");
    const isHidden = head["disable-model-invocation"] === true || head["disable-model-invocation"] === "true";
    const sourceInfo = { path, source, scope, origin: "top-level" } as const;
    return { name, description: description.slice(0, 1024), path, isHidden, sourceInfo };
  } catch (error) {
    notify(`The skill ${path} is left out: ${(error as Error).message}`);
    return undefined;
  }
}

/** The place itself when it is a file or a skill's folder, or else the skills below it, by path. */
function skillFiles(path: string): string[] {
  if (statSync(path, { throwIfNoEntry: false })?.isFile()) return [path];
  const found: string[] = [];
  const open = [{ folder: path, depth: 0 }];
  for (let seen = 0; seen < maxFolders; seen++) {
    const next = open.shift();
    if (!next) break;
    const names = readFolder(next.folder);
    if (names.some((entry) => entry.name === fileName)) found.push(join(next.folder, fileName));
    else if (next.depth < maxDepth) {
      for (const entry of names) {
        const folder = join(next.folder, entry.name);
        if (isFolder(entry, folder)) open.push({ folder, depth: next.depth + 1 });
      }
    }
  }
  return found.sort();
}

function readFolder(path: string): Dirent[] {
  try {
    return readdirSync(path, { withFileTypes: true }).filter(
      ({ name }) => !name.startsWith(".") && name !== "node_modules",
    );
  } catch {
    return [];
  }
}

function isFolder(entry: Dirent, path: string): boolean {
  return (
    entry.isDirectory() ||
    (entry.isSymbolicLink() && (statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false))
  );
}

/** The real paths of their folders, whose files the model may read; of a file that was named and may lie anywhere, its own. */
export function skillFolders(skills: readonly Skill[]): string[] {
  return skills.map(({ path }) => realpathSync(basename(path) === fileName ? dirname(path) : path));
}

/** What the system prompt says of them; undefined when there is nothing to say. */
export function describeSkills(skills: readonly Skill[]): string | undefined {
  const shown = skills.filter(({ isHidden }) => !isHidden);
  if (shown.length === 0) return undefined;
  return [
    "Skills are instructions for certain kinds of work. When a task fits the description of one, read its file first and follow it; paths in it are relative to its folder.",
    ...shown.map(({ name, description, path }) => `- ${name}: ${description} (${path})`),
  ].join("\n");
}

/** What the user says with `/skill:name arguments`. Throws the file system's error. */
export function expandSkill({ name, path }: Skill, args: string): string {
  const { body } = readMarkdown(path);
  const request = args.trim() === "" ? "" : `\n\n${args.trim()}`;
  return `Use the skill ${name}. Its instructions follow; paths in them are relative to ${dirname(path)}.\n\n<skill name="${name}">\n${body}\n</skill>${request}`;
}
