// What a text can stand for: `/name` of a prompt template, `/skill:name` of a skill; and what the model is told of skills.
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../config/config.ts";
import type { CommandInfo } from "../protocol/rpc.ts";
import { AppError } from "../util/error.ts";
import { lazy } from "../util/lazy.ts";
import { isInside } from "../util/paths.ts";

/** A folder or file where they are looked for. */
export interface Place extends Pick<CommandInfo["sourceInfo"], "source" | "scope"> {
  readonly path: string;
}

export interface ResourceOptions {
  readonly config: Pick<Config, "home" | "skills" | "promptTemplates">;
  /** The project's `.pi-ts`, where it is trusted. */
  readonly projectFolder: string | undefined;
  /** The same folder where it is not. */
  readonly untrustedFolder?: () => Promise<string | undefined>;
  /** Is told of what cannot be used. */
  readonly notify: (text: string) => void;
}

export interface Resources {
  /** What is said with `/name arguments` or `/skill:name arguments`; any other text is itself. Throws `AppError` `usage` for a file that is gone. */
  expand(text: string): Promise<string>;
  /** Whether the text begins with the name of one. */
  knows(text: string): Promise<boolean>;
  /** The file that `expand` would use if the project were trusted. */
  heldBack(text: string): Promise<string | undefined>;
  commands(): Promise<CommandInfo[]>;
  /** What the system prompt says of the skills; undefined when there are none. */
  readonly prompt: string | undefined;
  /** Whether a real path belongs to a skill, so that the model may read it wherever it is. */
  isSkillFile(realPath: string): boolean;
}

/** Skills are read at once, as far as the prompt needs them; templates when they are first asked for. */
export async function loadResources(options: ResourceOptions): Promise<Resources> {
  const { notify, config } = options;
  const skillPlaces = placesOf("skills", config.skills, options);
  const found = skillPlaces.length > 0 ? await loadSkills(skillPlaces, notify) : undefined;
  const skills = found?.skills ?? [];
  const listTemplates = lazy(() => loadTemplates(placesOf("prompts", config.promptTemplates, options), notify));

  async function find(text: string) {
    const { skillName, name, args = "" } = parse(text) ?? {};
    if (skillName !== undefined) {
      const skill = skills.find((each) => each.name === skillName);
      return skill && { skill, args };
    }
    const template = (await listTemplates()).find((each) => each.name === name);
    return template && { template, args };
  }

  return {
    prompt: found?.prompt,
    isSkillFile: (path) => found?.folders.some((folder) => isInside(folder, path)) ?? false,
    knows: async (text) => (await find(text)) !== undefined,
    async expand(text) {
      const meant = text.startsWith("/") ? await find(text) : undefined;
      if (!meant) return text;
      try {
        if (meant.skill) return (await import("./skills.ts")).expandSkill(meant.skill, meant.args);
        return (await import("./prompt-templates.ts")).fillTemplate(meant.template.body, meant.args);
      } catch (error) {
        throw new AppError("usage", `Cannot read ${meant.skill?.path}: ${(error as Error).message}`, { cause: error });
      }
    },
    async heldBack(text) {
      const { skillName, name } = parse(text) ?? {};
      const isSkill = skillName !== undefined;
      const project =
        (isSkill ? config.skills : config.promptTemplates).discover && (await options.untrustedFolder?.());
      if (!project) return undefined;
      const folder = join(project, isSkill ? "skills" : "prompts");
      const path = join(folder, isSkill ? `${skillName}/SKILL.md` : `${name}.md`);
      return isInside(folder, path) && existsSync(path) ? path : undefined;
    },
    async commands() {
      const list = await listTemplates();
      return [
        ...list.map(({ name, description, sourceInfo }) => ({
          name,
          description,
          source: "prompt" as const,
          sourceInfo,
        })),
        ...skills.map(({ name, description, sourceInfo }) => ({
          name: `skill:${name}`,
          description,
          source: "skill" as const,
          sourceInfo,
        })),
      ];
    },
  };
}

/** `/name arguments` or `/skill:name arguments`. */
function parse(
  text: string,
): { readonly skillName?: string; readonly name?: string; readonly args?: string } | undefined {
  return /^\/(?:skill:(?<skillName>[\w.-]+)|(?<name>\S+))(?:\s+(?<args>.*))?$/s.exec(text)?.groups;
}

async function loadSkills(places: readonly Place[], notify: (text: string) => void) {
  const { describeSkills, findSkills, skillFolders } = await import("./skills.ts");
  const skills = findSkills(places, notify);
  return { skills, prompt: describeSkills(skills), folders: skillFolders(skills) };
}

async function loadTemplates(places: readonly Place[], notify: (text: string) => void) {
  const { findTemplates } = await import("./prompt-templates.ts");
  return findTemplates(places, notify);
}

/** What was named, then the project's, then the user's own. */
function placesOf(
  name: "skills" | "prompts",
  { paths, discover }: Config["skills"],
  { config, projectFolder }: ResourceOptions,
): Place[] {
  const project: Place[] =
    projectFolder === undefined ? [] : [{ path: join(projectFolder, name), source: "local", scope: "project" }];
  const own: Place[] = [...project, { path: join(config.home, name), source: "local", scope: "user" }];
  return [
    ...paths.map((path): Place => ({ path, source: "cli", scope: "temporary" })),
    ...(discover ? own.filter(({ path }) => existsSync(path)) : []),
  ];
}
