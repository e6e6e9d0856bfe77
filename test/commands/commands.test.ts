import { expect, test } from "bun:test";
import { join } from "node:path";
import type { App } from "../../src/app/app.ts";
import { commands, completeCommand, runCommand } from "../../src/commands/index.ts";
import { parseCommand } from "../../src/commands/line.ts";

const app = {
  knows: async () => false,
  commands: async () => [],
  heldBack: async () => undefined,
  session: () => ({ cwd: join(import.meta.dir, "../..") }),
} as unknown as App;
const review = { name: "review", description: "Look at a change\nclosely" };
const withReview = {
  ...app,
  commands: async () => [review, { name: "help" }, { name: "skill:pdf" }],
} as unknown as App;

test.each([
  ["/help", { name: "help", args: "" }],
  ["/clear  now please ", { name: "clear", args: "now please" }],
  ["/help\nme", { name: "help", args: "me" }],
  ["/etc/hosts is a file", undefined],
  [" /help", undefined],
  ["/Help", { name: "Help", args: "" }],
  ["/skill:pdf page 2", { name: "skill:pdf", args: "page 2" }],
  ["/café_2", { name: "café_2", args: "" }],
  ["/etc. and so on", undefined],
  ["/", undefined],
  ["// a comment", undefined],
  ["help", undefined],
])("%j", (line, parsed) => {
  expect(parseCommand(line)).toEqual(parsed);
});

test("an unknown command is answered in one line, with the nearest name and the way around", async () => {
  expect(await runCommand("/token", app)).toEqual({
    text: "There is no command /token. Did you mean /tokens? A space before the slash sends it as text.",
  });
  expect(await runCommand("/frobnicate", app)).toEqual({
    text: "There is no command /frobnicate. /help lists them. A space before the slash sends it as text.",
  });
  expect(await runCommand("no command", app)).toBeUndefined();
});

test("so is a skill that there is not, which would else be sent as a task", async () => {
  expect(await runCommand("/skill:pfd make one", withReview)).toEqual({
    text: "There is no command /skill:pfd. Did you mean /skill:pdf? A space before the slash sends it as text.",
  });
});

test("a folder of the root is no command, and what is said of it is a task", async () => {
  expect(await runCommand("/usr looks full", app)).toBeUndefined();
});

test("neither is a file or folder of the working directory, which many write with a slash in front", async () => {
  expect(await runCommand("/README.md is too long", app)).toBeUndefined();
  expect(await runCommand("/scripts need a look", app)).toBeUndefined();
});

test("the name of a prompt template is no command", async () => {
  const withTemplate = { knows: async (line: string) => line.startsWith("/review") } as unknown as App;
  expect(await runCommand("/review it", withTemplate)).toBeUndefined();
});

test("that of a project that is not trusted is named, with what would make it count", async () => {
  const untrusted = { ...app, heldBack: async () => "/project/.pi-ts/skills/pdf/SKILL.md" } as unknown as App;
  expect(await runCommand("/skill:pdf now", untrusted)).toEqual({
    text: "There is no command /skill:pdf: the project's /project/.pi-ts/skills/pdf/SKILL.md counts only when trusted (--trust-project does, for one run). A space before the slash sends it as text.",
  });
});

test("/help lists every command", async () => {
  const text = (await runCommand("/help", app))?.text ?? "";
  for (const name of completeCommand("/")) expect(text).toContain(`${name} `);
  expect(text).not.toContain("\n\n\n");
});

test("/help, Tab and the nearest name know prompt templates and skills too, but for those that a command hides", async () => {
  const lines = ((await runCommand("/help", withReview))?.text ?? "").split("\n");
  expect(lines.find((line) => line.startsWith("/review "))).toMatch(/ {2}Look at a change closely$/);
  expect(lines).toContain("/skill:pdf");
  expect(lines.filter((line) => line.startsWith("/help"))).toHaveLength(1);
  const others = ["review", "help", "skill:pdf"];
  expect(completeCommand("/re", others)).toEqual(["/resume", "/review"]);
  expect(completeCommand("/skill:p", others)).toEqual(["/skill:pdf"]);
  expect(completeCommand("/h", others)).toEqual(["/help"]);
  expect((await runCommand("/reviw", withReview))?.text).toContain("Did you mean /review?");
});

test.each([
  ["/", commands.map(({ name }) => `/${name}`)],
  ["/h", ["/help"]],
  ["/help ", []],
  ["h", []],
  ["", []],
])("%j completes to %j", (text, words) => {
  expect(completeCommand(text)).toEqual(words);
});
