// The command line, word by word: flags, values, switches, and what is a usage error.
import { expect, test } from "bun:test";
import { type FlagsDef, parseArgs } from "../../src/cli/parse-args.ts";

const args = {
  task: { type: "positional", required: false },
  print: { type: "boolean", alias: "p" },
  yolo: { type: "boolean", alias: "y" },
  quiet: { type: "boolean" },
  "context-files": { type: "boolean", default: true, negativeAlias: "nc" },
  model: { type: "string", alias: ["m", "language-model", "lm"] as string[] },
  "max-turns": { type: "string" },
  record: { type: "string", valueHint: "file" },
  allow: { type: "string", repeatable: true },
  resume: { type: "string", alias: "r", valueless: () => true },
  fork: {
    type: "string",
    valueless: (word: string, isGiven: (name: string) => boolean) => !/\s/.test(word) && !isGiven("resume"),
  },
} as const satisfies FlagsDef;

test.each<[string, string[], flags: Record<string, unknown>, words: string[]]>([
  ["nothing", [], {}, []],
  ["words", ["fix", "it"], {}, ["fix", "it"]],
  ["a value", ["--model", "x"], { model: "x" }, []],
  ["a value behind =", ["--model=x=y"], { model: "x=y" }, []],
  ["an empty value", ["--model="], { model: "" }, []],
  ["a value that looks like a number", ["--max-turns", "-1"], { "max-turns": "-1" }, []],
  ["a value that is a flag, behind =", ["--model=--yolo"], { model: "--yolo" }, []],
  ["a short form", ["-m", "x"], { model: "x" }, []],
  ["a further name", ["--language-model", "x"], { model: "x" }, []],
  ["a short form of two letters", ["-lm", "x"], { model: "x" }, []],
  ["a short form that turns a switch off", ["-nc"], { "context-files": false }, []],
  ["a switch", ["--yolo"], { yolo: true }, []],
  ["a switch turned off", ["--no-context-files"], { "context-files": false }, []],
  ["switches together", ["-py", "go"], { print: true, yolo: true }, ["go"]],
  ["the last one counts", ["-m", "x", "-m", "y", "--yolo", "--no-yolo"], { model: "y", yolo: false }, []],
  ["all of a flag that may come again", ["--allow", "a", "--allow=b"], { allow: ["a", "b"] }, []],
  ["flags behind words", ["go", "--yolo", "on"], { yolo: true }, ["go", "on"]],
  ["a value that may be left out", ["--resume", "x", "go"], { resume: "x" }, ["go"]],
  ["a value that is left out before a flag", ["--resume", "-p", "go"], { resume: "", print: true }, ["go"]],
  ["a value that is left out at the end", ["go", "-r"], { resume: "" }, ["go"]],
  ["a value that is left out before --", ["--resume", "--", "go"], { resume: "" }, ["go"]],
  ["a value that may be left out, behind =", ["--fork=two words"], { fork: "two words" }, []],
  ["a word that cannot be the value", ["--fork", "two words"], { fork: "" }, ["two words"]],
  ["a word that is no value beside another flag", ["--fork", "go", "-r", "x"], { fork: "", resume: "x" }, ["go"]],
  ["everything behind --", ["-p", "--", "--yolo", "-m"], { print: true }, ["--yolo", "-m"]],
  ["a dash", ["-p", "-"], { print: true }, ["-"]],
  [
    "a text that begins with a dash",
    ["- fix this", "--explain it to me", "-x y"],
    {},
    ["- fix this", "--explain it to me", "-x y"],
  ],
  ["a task of nothing", ["", " "], {}, ["", " "]],
])("%s", (_name, argv, flags, words) => {
  const parsed = parseArgs(argv, args);
  expect({ flags: parsed.flags, words: parsed.words }).toEqual({ flags, words } as never);
});

test("the words behind -- are counted", () => {
  expect(parseArgs(["a", "--", "@b", "-c"], args)).toMatchObject({ words: ["a", "@b", "-c"], literal: 2 });
  expect(parseArgs(["a", "@b"], args)).toMatchObject({ words: ["a", "@b"], literal: 0 });
});

test.each([
  [["--modle", "x"], "Unknown flag --modle", "Did you mean --model?"],
  [["--no-quite"], "Unknown flag --no-quite", "Did you mean --no-quiet?"],
  [["--zzzzzzzz"], "Unknown flag --zzzzzzzz", "See pi-ts --help."],
  [["-x"], "Unknown flag -x", "--"],
  [["-pm"], "Unknown flag -pm", "--"],
  [["--no-model"], "Unknown flag --no-model", "--"],
  [["--yolo=yes"], "--yolo takes no value", "Write --yolo alone"],
  [["--model"], "--model needs a value", "See pi-ts --help."],
  [["--record", ""], "--record needs a file, and its value is empty", "See pi-ts --help."],
  [["--record="], "--record needs a file, and its value is empty", "See pi-ts --help."],
  [["--model", "--yolo"], "--model needs a value, but --yolo follows", "Write --model=--yolo if that is the value."],
])("%j is a usage error", (argv, message, hint) => {
  expect(() => parseArgs(argv, args)).toThrow(
    expect.objectContaining({ code: "usage", message, hint: expect.stringContaining(hint) }),
  );
});

test("an unknown flag of a command leads to that command's help, and to no task", () => {
  expect(() => parseArgs(["--zzzzzzzz"], args, "models")).toThrow(
    expect.objectContaining({ hint: "See pi-ts models --help." }),
  );
  expect(() => parseArgs(["--modle"], args, "models")).toThrow(
    expect.objectContaining({ hint: "Did you mean --model?" }),
  );
});
