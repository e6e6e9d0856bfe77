// Which bash commands run with on Windows, from the environment and the files that are there.
import { expect, test } from "bun:test";
import { findBash, findWindowsBash } from "../../src/util/find-bash.ts";

const wsl = "C:\\Windows\\System32\\bash.exe";
const git = "C:\\Program Files\\Git";
const base = {
  SystemRoot: "C:\\Windows",
  ProgramFiles: "C:\\Program Files",
  LOCALAPPDATA: "C:\\Users\\me\\AppData\\Local",
};

test.each<[string, Record<string, string>, string[], string | undefined]>([
  [
    "the one on the PATH",
    { Path: "C:\\msys64\\usr\\bin" },
    ["C:\\msys64\\usr\\bin\\bash.exe"],
    "C:\\msys64\\usr\\bin\\bash.exe",
  ],
  [
    "git's, when only git is on the PATH",
    { Path: `${git}\\cmd` },
    [`${git}\\cmd\\git.exe`, `${git}\\bin\\bash.exe`],
    `${git}\\bin\\bash.exe`,
  ],
  ["git's, where it is installed for all", { Path: "C:\\tools" }, [`${git}\\bin\\bash.exe`], `${git}\\bin\\bash.exe`],
  [
    "git's, where it is installed for one user",
    {},
    ["C:\\Users\\me\\AppData\\Local\\Programs\\Git\\bin\\bash.exe"],
    "C:\\Users\\me\\AppData\\Local\\Programs\\Git\\bin\\bash.exe",
  ],
  ["not WSL's", { PATH: "C:\\WINDOWS\\system32;C:\\tools" }, [wsl, "C:\\WINDOWS\\system32\\bash.exe"], undefined],
  ["not one of a relative folder", { PATH: ".;bin" }, [".\\bash.exe", "bin\\bash.exe", "bash.exe"], undefined],
  ["none", { PATH: "C:\\tools" }, [], undefined],
])("on Windows: %s", (_name, env, files, expected) => {
  expect(findWindowsBash({ ...base, ...env }, (path) => files.includes(path))).toBe(expected);
});

test("elsewhere it is the one on the PATH", () => {
  expect(findBash({})).toBe("bash");
});
