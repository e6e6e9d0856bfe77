import { expect, test } from "bun:test";
import { parseMarkdown } from "../../src/app/frontmatter.ts";
import { fillTemplate, splitArguments } from "../../src/app/prompt-templates.ts";
import { loadResources } from "../../src/app/resources.ts";
import { plant } from "../helpers/tree.ts";

test.each([
  ["$1 and $2", "one two", "one and two"],
  ["$1, $2, $3.", "one", "one, , ."],
  ["all: $@", "one two", "all: one two"],
  ["all: $ARGUMENTS", `one "two three"`, "all: one two three"],
  ["${1:-none} ${2:-other}", "one", "one other"],
  ["${@:-nothing}", "", "nothing"],
  ["${@:2} | ${@:1:2}", "a b c d", "b c d | a b"],
  // What an argument says is text, whatever it looks like.
  ["$1-$2", "$2 $1", "$2-$1"],
  ["costs $5 or $HOME or $ARGUMENTSX", "", "costs  or $HOME or $ARGUMENTSX"],
  ["no place", "for this", "no place\n\nfor this"],
  ["no place", "  ", "no place"],
])("%j with %j is %j", (body, args, text) => {
  expect(fillTemplate(body, args)).toBe(text);
});

test.each([
  ["a  b\tc", ["a", "b", "c"]],
  [`"a b" 'c d'`, ["a b", "c d"]],
  [`doesn't split`, ["doesn't", "split"]],
  [`"open a`, [`"open`, "a"]],
  [`"the \\"fast\\" path"`, [`the "fast" path`]],
  [`C:\\dir "a\\b"`, ["C:\\dir", "a\\b"]],
  ["", []],
])("%j are the words %j", (text, words) => {
  expect(splitArguments(text)).toEqual(words);
});

test.each([
  ["---\nname: a\ndescription: says: this\n---\nbody\n", { name: "a", description: "says: this" }, "body"],
  ["---\r\nname: a\r\n---\r\nbody", { name: "a" }, "body"],
  ["---\n---\nbody", {}, "body"],
  ["body\n---\nname: a\n---\n", {}, "body\n---\nname: a\n---"],
  ["---\nname: a\nno end", {}, "---\nname: a\nno end"],
])("the head of %j", (text, head, body) => {
  expect(parseMarkdown(text)).toEqual({ head, body });
});

const skill = (name: string, description: string, more = "") =>
  `---\nname: ${name}\ndescription: ${description}\n${more}---\nThe way to do ${name}.\n`;

test("templates and skills are found in their folders, the nearer ones first, and expanded by name", async () => {
  await using dir = plant({
    "home/prompts/review.md": "---\ndescription: Review it\n---\nReview $1 for ${2:-bugs}.",
    "home/prompts/fix.md": "\nFix the build.\n",
    "home/prompts/.hidden.md": "no",
    "home/prompts/notes.txt": "no",
    "home/skills/pdf/SKILL.md": skill("pdf", "Work with PDFs"),
    "home/skills/group/deep/SKILL.md": skill("deep", "Deeper"),
    "home/skills/secret/SKILL.md": skill("secret", "By name only", "disable-model-invocation: true\n"),
    "home/skills/mute/SKILL.md": "---\nname: mute\n---\nno description",
    "project/prompts/review.md": "The project's review of $@.",
    "project/skills/pdf/SKILL.md": skill("pdf", "The project's"),
  });
  const notes: string[] = [];
  const none = { paths: [], discover: true };
  const config = { home: dir.file("home"), skills: none, promptTemplates: none };
  const resources = await loadResources({
    config,
    projectFolder: dir.file("project"),
    notify: (text) => notes.push(text),
  });
  expect(
    (await resources.commands()).map(({ name, description, sourceInfo }) => [name, description, sourceInfo.scope]),
  ).toEqual([
    ["review", "The project's review of $@.", "project"],
    ["fix", "Fix the build.", "user"],
    ["skill:pdf", "The project's", "project"],
    ["skill:deep", "Deeper", "user"],
    ["skill:secret", "By name only", "user"],
  ]);
  expect(notes).toEqual([
    expect.stringContaining("mute/SKILL.md is left out: it has no description"),
    expect.stringContaining("the same name"),
  ]);
  expect(resources.prompt).toContain(`- pdf: The project's (${dir.file("project/skills/pdf/SKILL.md")})`);
  expect(resources.prompt).not.toContain("secret");
  expect(resources.isSkillFile(dir.file("home/skills/group/deep/scripts/run.sh"))).toBe(true);
  expect(resources.isSkillFile(dir.file("home/config.toml"))).toBe(false);

  expect(await resources.expand("/review the parser")).toBe("The project's review of the parser.");
  expect(await resources.expand("/skill:secret now")).toContain("The way to do secret.\n</skill>\n\nnow");
  for (const text of ["/unknown", "/skill:unknown", "/etc/hosts is a file", "review", " /fix"]) {
    expect(await resources.expand(text)).toBe(text);
    expect(await resources.knows(text)).toBe(false);
  }
});

test("of a skill that is named as a file the model may read this file alone, and of a SKILL.md its folder", async () => {
  await using dir = plant({
    "notes/review.md": skill("review", "Reviews"),
    "notes/key": "secret",
    "pdf/SKILL.md": skill("pdf", "Reads PDF"),
    "pdf/table.md": "More of it.",
  });
  const { isSkillFile } = await loadResources({
    config: {
      home: dir.file("home"),
      skills: { paths: [dir.file("notes/review.md"), dir.file("pdf/SKILL.md")], discover: false },
      promptTemplates: { paths: [], discover: false },
    },
    projectFolder: undefined,
    notify: () => {},
  });
  const files = ["notes/review.md", "notes/key", "pdf/SKILL.md", "pdf/table.md"];
  expect(files.filter((name) => isSkillFile(dir.file(name)))).toEqual([
    "notes/review.md",
    "pdf/SKILL.md",
    "pdf/table.md",
  ]);
});

test("what a project would bring is found where it is not trusted, and no other file", async () => {
  await using dir = plant({
    "project/prompts/review.md": "Review.",
    "project/skills/pdf/SKILL.md": skill("pdf", "The project's"),
    "project/other.md": "None of them.",
  });
  const on = { paths: [], discover: true };
  const load = (config: { readonly skills: typeof on; readonly promptTemplates: typeof on }) =>
    loadResources({
      config: { home: dir.file("home"), ...config },
      projectFolder: undefined,
      untrustedFolder: async () => dir.file("project"),
      notify: () => {},
    });
  const resources = await load({ skills: on, promptTemplates: on });
  expect(await resources.heldBack("/review it")).toBe(dir.file("project/prompts/review.md"));
  expect(await resources.heldBack("/skill:pdf")).toBe(dir.file("project/skills/pdf/SKILL.md"));
  for (const text of ["/unknown", "/skill:unknown", "/../other", "/skill:..", "review", ""]) {
    expect(await resources.heldBack(text)).toBeUndefined();
  }
  const without = await load({ skills: on, promptTemplates: { ...on, discover: false } });
  expect(await without.heldBack("/review it")).toBeUndefined();
});

test("what is named on the command line comes first, alone if so wished; nothing there is told", async () => {
  await using dir = plant({
    "home/prompts/fix.md": "home",
    "home/skills/pdf/SKILL.md": skill("pdf", "Home"),
    "other/fix.md": "named",
    "mine/SKILL.md": skill("mine", "Named"),
  });
  const notes: string[] = [];
  const config = {
    home: dir.file("home"),
    skills: { paths: [dir.file("mine"), dir.file("gone")], discover: false },
    promptTemplates: { paths: [dir.file("other/fix.md")], discover: true },
  };
  const resources = await loadResources({ config, projectFolder: undefined, notify: (text) => notes.push(text) });
  expect((await resources.commands()).map(({ name, sourceInfo }) => [name, sourceInfo.source])).toEqual([
    ["fix", "cli"],
    ["skill:mine", "cli"],
  ]);
  expect(await resources.expand("/fix")).toBe("named");
  expect(notes).toEqual([`There is no skill in ${dir.file("gone")}`]);
});
