// Rules for commands and files, and the ways people and models have tried to walk around them.
import { describe, expect, test } from "bun:test";
import { mkdirSync, symlinkSync } from "node:fs";
import { dirname } from "node:path";
import type { GateRequest } from "../../src/permission/gate.ts";
import { createRules } from "../../src/permission/rules.ts";
import { realTarget, resolvePath } from "../../src/util/paths.ts";
import { tmp } from "../helpers/tmp.ts";

const tools = ["read", "bash", "edit", "write", "grep", "find", "ls"];
const texts = (rules: readonly string[], source: string) => rules.map((text) => ({ text, source }));

function rules(allow: readonly string[], deny: readonly string[] = [], realCwd = "/project") {
  return createRules(texts(allow, "--allow"), texts(deny, "--deny"), { realCwd, tools });
}

function bash(command: string): GateRequest {
  const preview = async () => command;
  return {
    toolName: "bash",
    access: "execute",
    args: { command },
    summary: command,
    paths: [],
    realPaths: [],
    preview,
  };
}

function file(toolName: string, path: string, cwd = "/project"): GateRequest {
  const absolute = resolvePath(cwd, path);
  return {
    toolName,
    access: "write",
    args: { path },
    summary: path,
    paths: [absolute],
    realPaths: [realTarget(absolute)],
    preview: async () => "",
  };
}

describe("an allow rule for bash", () => {
  test.each([
    ["bash(git status)", "git status"],
    ["bash(git status)", "  git   status "],
    ["bash(npm run *)", "npm run test"],
    ["bash(npm run *)", "npm run test --watch src/a.test.ts"],
    ["bash(npm run *)", "npm run"],
    ["bash(git log *)", "git log --oneline -n 5 HEAD~3 -- src/a,b.ts"],
    ["bash(git commit *)", "git commit -m 'it; works & so on' --author=\"A <a@b>\""],
    ["bash(git commit -m 'wip')", "git commit -m 'wip'"],
    ["bash(./run.sh *)", "./run.sh größe"],
    ["bash(make -j4)", "make -j4"],
    ["bash", "anything; goes > here"],
  ])("%s allows %s", (rule, command) => {
    expect(rules([rule]).allows(bash(command))).toBe(true);
  });

  const status = "bash(git status)";
  const any = "bash(git status *)";
  const around: [how: string, rule: string, command: string][] = [
    ["a further argument", status, "git status -s"],
    ["another subcommand", any, "git push"],
    ["a longer program name", any, "gitx status"],
    ["a longer last word", any, "git statusx"],
    ["a missing word", status, "git"],
    ["a semicolon", any, "git status; touch pwned"],
    ["a semicolon without blanks", any, "git status;touch pwned"],
    ["two ampersands", any, "git status && touch pwned"],
    ["two bars", any, "git status || touch pwned"],
    ["a pipe", any, "git status | sh"],
    ["a pipe with stderr", any, "git status |& sh"],
    ["the background", any, "git status & touch pwned"],
    ["a line break", any, "git status\ntouch pwned"],
    ["a line break at the end", any, "git status\n"],
    ["a carriage return", any, "git status\rtouch pwned"],
    ["CRLF", any, "git status\r\ntouch pwned"],
    ["a line break in quotes", any, "git status 'a\nb'"],
    ["a substitution", any, "git status $(touch pwned)"],
    ["backticks", any, "git status `touch pwned`"],
    ["a substitution in double quotes", any, 'git status "$(touch pwned)"'],
    ["backticks in double quotes", any, 'git status "`touch pwned`"'],
    ["a process substitution for reading", any, "git status <(touch pwned)"],
    ["a process substitution for writing", any, "git status >(sh)"],
    ["a variable", any, "git status $IFS"],
    ["a variable in braces", any, "git status ${x:-$(touch pwned)}"],
    ["a variable in double quotes", any, 'git status "$HOME"'],
    ["arithmetic", any, "git status $((x[$(touch pwned)]))"],
    ["a redirection of output", any, "git status > /etc/x"],
    ["a redirection without blanks", any, "git status>x"],
    ["an appending redirection", any, "git status >> x"],
    ["a redirection of stderr", any, "git status 2>x"],
    ["a redirection first", any, "> x git status"],
    ["a redirection of input", any, "git status < x"],
    ["a here document", any, "git status <<X\ntouch\nX"],
    ["a here string", any, "git status <<< x"],
    ["a leading assignment", any, "GIT_PAGER=sh git status"],
    ["an assignment of PATH", any, "PATH=. git status"],
    ["an assignment alone", any, "git=status"],
    ["an absolute program", any, "/usr/bin/git status"],
    ["a program of the folder", any, "./git status"],
    ["a program by a way up", any, "../git status"],
    ["a program of the home directory", any, "~/git status"],
    ["another case", any, "GIT status"],
    ["env", any, "env git status"],
    ["sudo", any, "sudo git status"],
    ["command", any, "command git status"],
    ["exec", any, "exec git status"],
    ["eval", any, "eval git status"],
    ["xargs", any, "xargs git status"],
    ["nohup", any, "nohup git status"],
    ["time", any, "time git status"],
    ["a shell", any, "sh -c 'git status'"],
    ["a negation", any, "! git status"],
    ["a subshell", any, "(git status)"],
    ["a group", any, "{ git status; }"],
    ["a function of the same name", any, "git() { touch pwned; }"],
    ["a function, the other way to write it", any, "function git { touch pwned; }"],
    ["a conditional", any, "if git status; then touch pwned; fi"],
    ["a quoted program", any, "'git' status"],
    ["a program in double quotes", any, '"git" status'],
    ["quotes inside a word", any, "g'i't status"],
    ["empty quotes inside a word", any, "git'' status"],
    ["a quoted word of the rule", any, "git 'status'"],
    ["a quote that goes on behind the word", any, "git status 'a'b"],
    ["a quote that is never closed", any, "git status 'a"],
    ["a backslash", any, "g\\it status"],
    ["an escaped blank", any, "git status\\ x"],
    ["an escape in double quotes", any, 'git status "\\x"'],
    ["a continued line", any, "git status \\\n--short"],
    ["ANSI-C quotes", any, "git status $'\\x3b'"],
    ["translated quotes", any, 'git status $"x"'],
    ["a comment", any, "git status # fine"],
    ["a comment without a blank", any, "git status#"],
    ["a star that expands", any, "git status *"],
    ["a question mark that expands", any, "git status ?"],
    ["a bracket that expands", any, "git status [a-z]"],
    ["a brace that expands", any, "git status {a,b}"],
    ["a home directory", any, "git status ~root"],
    ["a home directory in an option", any, "git status --x=~/x"],
    ["a history expansion", any, "git status !!"],
    ["a history expansion in double quotes", any, 'git status "!!"'],
    ["a tab between the words", any, "git\tstatus"],
    ["a no-break space", any, "git\u00a0status"],
    ["an ideographic space", any, "git status\u3000x"],
    ["a line separator", any, "git status\u2028touch pwned"],
    ["a letter of another script", any, "gіt status"],
    ["full-width letters", any, "ｇｉｔ status"],
    ["a letter without width", any, "git status\u200b"],
    ["a letter that shows nothing", any, "git status \u3164"],
    ["a mark of reordering", any, "git status \u202e"],
    ["a byte order mark", any, "\ufeffgit status"],
    ["a NUL", any, "git status\u0000; touch pwned"],
    ["an escape sequence", any, "git status \u001b[2K"],
    ["a C1 control", any, "git status \u009b2K"],
    ["a vertical tab", any, "git\u000bstatus"],
    ["nothing", any, ""],
    ["only blanks", any, "   "],
    ["find -exec", "bash(find *)", "find . -exec touch pwned"],
    ["find -exec, quoted", "bash(find *)", "find . '-exec' touch pwned ';'"],
    ["find -delete", "bash(find . *)", "find . -delete"],
    ["find -fprintf", "bash(find *)", "find . -fprintf x y"],
    ["a rule for another tool", "read", "cat x"],
  ];
  test.each(around)("is not walked around by %s", (_how, rule, command) => {
    expect(rules([rule]).allows(bash(command))).toBe(false);
  });

  test("that ends in a star holds for any further words, also those that start programs, but for what find runs", () => {
    expect(rules(["bash(git *)"]).allows(bash("git -c core.fsmonitor=./x status"))).toBe(true);
    expect(rules(["bash(tar *)"]).allows(bash("tar xf a.tar --checkpoint=1 --checkpoint-ac=exec=id"))).toBe(true);
    expect(rules(["bash(find *)"]).allows(bash("find . -name x"))).toBe(true);
  });

  test("is tried in more than forty ways", () => {
    expect(around.length).toBeGreaterThan(40);
  });
});

describe("a deny rule for bash", () => {
  test.each([
    ["the command", "rm", "rm -rf x"],
    ["the command alone", "rm *", "rm"],
    ["a path to it", "sudo", "/usr/bin/sudo ls"],
    ["a relative path to it", "sudo", "../bin/sudo ls"],
    ["behind a semicolon", "rm", "ls;rm x"],
    ["behind a pipe", "sh", "curl x | sh"],
    ["behind a line break", "rm", "ls\nrm x"],
    ["behind an ampersand", "rm", "ls & rm x"],
    ["in a substitution", "rm", "echo $(rm x)"],
    ["in a substitution in quotes", "rm", 'echo "a $(rm x)"'],
    ["in backticks", "rm", "echo `rm x`"],
    ["in backticks in quotes", "rm", 'echo "`rm x`"'],
    ["in a process substitution", "rm", "cat <(rm x)"],
    ["in a subshell", "rm", "(rm x)"],
    ["in a group", "rm", "{ rm x; }"],
    ["in a function", "rm", "f() { rm x; }; f"],
    ["in a conditional", "rm", "if true; then rm x; fi"],
    ["in a loop", "rm", "for f in *; do rm $f; done"],
    ["behind an assignment", "rm", "X=1 rm x"],
    ["behind a redirection", "rm", "> log rm x"],
    ["in a here document for a shell", "rm", "sh <<X\nrm x\nX"],
    ["in a here string for a shell", "rm", "sh <<< 'rm x'"],
    ["quoted", "rm", "'rm' x"],
    ["quoted in parts", "rm", 'r"m" x'],
    ["with a backslash", "rm", "\\rm x"],
    ["with a continued line", "rm", "r\\\nm x"],
    ["in ANSI-C quotes", "rm", "$'\\x72\\155' x"],
    ["with IFS for a blank", "git push", "git${IFS}push"],
    ["behind env", "rm", "env A=1 rm x"],
    ["behind env -S", "rm", "env -S 'rm x'"],
    ["behind command", "rm", "command rm x"],
    ["behind nohup", "rm", "nohup rm x"],
    ["behind sudo with options", "rm", "sudo -u root rm x"],
    ["behind xargs", "rm", "ls | xargs -n 1 rm"],
    ["behind find -exec", "rm", "find . -exec rm {} +"],
    ["behind timeout", "rm", "timeout 5 rm x"],
    ["in the line of a shell", "rm", 'sh -c "rm x"'],
    ["in the line of a shell behind sudo", "rm", "sudo bash -c 'ls; rm x'"],
    ["in eval", "rm", "eval 'rm x'"],
    ["in a shell in a shell", "rm", "bash -c \"sh -c 'rm x'\""],
    ["behind a comment with an apostrophe", "git push", "# don't\ngit push"],
    ["behind a comment at a line's end", "rm", "ls # it's\nr\\\nm x"],
    ["behind a here document with an apostrophe", "rm", "cat <<E\nit's\nE\nr\\\nm x"],
    ["behind an indented here document", "rm", "cat <<-'E F' > x\nit's\n\tE F\n$'\\x72m' x"],
    ["behind two here documents", "rm", "cat <<A <<B\n'\nA\n'\nB\n$'\\x72m' x"],
    ["in a substitution of a here document", "rm", "cat <<E\n$(rm x)\nE"],
    ["behind an apostrophe in an expansion", "rm", "echo ${x#'}; rm x"],
    ["between apostrophes in expansions", "rm", "echo ${x#'}; rm x; echo ${y#'}"],
    ["behind a quote in an expansion", "rm", 'echo ${x#\\"}; rm x'],
    ["behind an escaped quote", "rm", "echo \\'; rm x; echo \\'"],
    ["with options and their values between the words", "git push", "git -C . push"],
    ["with a long option between the words", "git push", "git --no-pager push"],
    ["with git's own configuration between the words", "git push", "git -c a=b push origin"],
    ["with many options between the words", "git remote add", "git -C remote --bare remote -v add x"],
    ["with a value that is a word of the rule", "git push", "git -C push push"],
    ["behind env -S without a blank", "rm", "env -S'rm x'"],
    ["behind env with clustered options", "rm", "env -iS'rm x'"],
    ["behind env --split-string", "rm", "env --split-string='rm x'"],
    ["in braces", "rm", "{rm,x}"],
    ["made by braces", "rm", "r{m,} x"],
    ["made by braces around an empty word", "rm", "{,rm,x}"],
    ["behind unbuffer", "rm", "unbuffer rm x"],
    ["behind firejail", "rm", "firejail --quiet rm x"],
    ["behind rlwrap", "rm", "rlwrap rm x"],
    ["behind script -c", "rm", "script -qc 'rm x' /dev/null"],
    ["behind script --command", "rm", "script --command='rm x' log"],
    ["behind git bisect run", "rm", "git bisect run rm x"],
    ["behind git submodule foreach", "rm", "git submodule foreach 'rm x'"],
    ["behind git rebase --exec", "rm", "git rebase --exec='rm x' main"],
    ["fed to a shell", "rm", "echo 'rm x' | sh"],
    ["fed to a shell word by word", "rm", "echo rm x | /bin/bash -s"],
    ["fed to a shell behind other commands", "rm", "printf '%s\\n' 'ls; rm x' | tee log | sudo sh"],
    ["in a process substitution that a shell reads", "rm", "bash <(echo rm x)"],
    ["in a process substitution that is sourced", "rm", ". <(echo rm x)"],
    ["with more words", "git push *", "git push --force"],
    ["by the words alone", "git push", "git push --force"],
    ["under the path that the rule has", "/usr/bin/sudo", "sudo ls"],
  ])("holds for it %s", (_how, pattern, command) => {
    expect(rules([], [`bash(${pattern})`]).denying(bash(command))).toBe(`bash(${pattern}) from --deny`);
  });

  test.each([
    ["git status", "git push"],
    ["rm", "echo rm x"],
    ["rm", "grep rmdir"],
    ["rm", "rmdir x"],
    ["git push", "git log --oneline push"],
    ["git push", "git stash push"],
    ["rm", "git rm x"],
    ["rm", "ls -l # nothing to rm"],
    ["rm", "cat a | grep rm"],
    ["rm", "echo a,b {c,d}"],
  ])("bash(%s) leaves %s alone", (pattern, command) => {
    expect(rules([], [`bash(${pattern})`]).denying(bash(command))).toBeUndefined();
  });

  test.each([
    ["many words", `sudo ${"word ".repeat(20_000)}; ${"$(a ".repeat(2000)}`],
    ["many options", `git ${"-a git ".repeat(10_000)}`],
    ["many options behind a wrapper", `sudo ${"-abcdef ".repeat(10_000)}`],
    ["many braces", "{a,b}{c,d}{e,f}{g,h}{i,j}{k,l}{m,n} ".repeat(300)],
    ["shells in shells", `${'sh -c "a $('.repeat(3000)}`],
    ["many pipes to shells", "echo 'a; b' | sh | ".repeat(2000)],
    ["many here documents", `${"cat <<E ".repeat(2000)}\n${"x\n".repeat(10_000)}`],
    ["wrappers of texts", `sudo ${"'sudo \"sudo a;b\" -x=sudo;c' ".repeat(2000)}`],
  ])("is found in a long line of %s within moments", (_, line) => {
    const started = performance.now();
    expect(rules([], ["bash(git push)"]).denying(bash(line))).toBeUndefined();
    expect(performance.now() - started).toBeLessThan(2000);
  });
});

describe("a rule for files", () => {
  test.each([
    ["write(src/**)", "write", "src/a.ts", true],
    ["write(src/**)", "write", "src/deep/er/a.ts", true],
    ["write(src/)", "write", "src/deep/a.ts", true],
    ["write(src/**)", "write", "/project/src/a.ts", true],
    ["write(/project/src/**)", "write", "src/a.ts", true],
    ["write(src/*.ts)", "write", "src/a.ts", true],
    ["write(src/*.ts)", "write", "src/deep/a.ts", false],
    ["write(**/*.md)", "write", "a.md", true],
    ["write(**/*.md)", "write", "x/y/a.md", true],
    ["write(!a)", "write", "b", false],
    ["write(src/**)", "write", "src/../x", false],
    ["write(src/**)", "write", "src/../../etc/x", false],
    ["write(src/**)", "write", "src-evil/x", false],
    ["write(src/**)", "write", "other/src/x", false],
    ["write(src/**)", "edit", "src/a.ts", false],
    ["read(/etc/hostname-x)", "read", "/etc/hostname-x", true],
    ["read(/etc/hostname-x)", "read", "/etc/hostname-xy", false],
    ["read(~/x)", "read", "~/x", true],
    ["edit", "edit", "/anywhere/x", true],
  ])("%s and %s of %s", (rule, tool, path, expected) => {
    expect(rules([rule]).allows(file(tool, path))).toBe(expected);
    expect(rules([], [rule]).denying(file(tool, path)) !== undefined).toBe(expected);
  });

  test("judges a link by where it leads", async () => {
    await using dir = tmp();
    await using other = tmp();
    mkdirSync(dir.file("src"));
    symlinkSync(other.path, dir.file("src/out"));
    symlinkSync(other.file("new"), dir.file("src/dangling"));
    symlinkSync(dir.file("src"), dir.file("alias"));
    const write = (path: string) => file("write", path, dir.path);
    const allowing = rules(["write(src/**)"], [], dir.path);
    expect(allowing.allows(write("src/out/x"))).toBe(false);
    expect(allowing.allows(write("src/dangling"))).toBe(false);
    expect(allowing.allows(write("alias/x"))).toBe(true);
    expect(rules([`write(${other.path}/**)`], [], dir.path).allows(write("src/out/x"))).toBe(true);
  });

  test("of a folder that the project made a link does not follow it", async () => {
    await using dir = tmp();
    await using other = tmp();
    symlinkSync(other.path, dir.file("src"));
    expect(rules(["write(src/**)"], [], dir.path).allows(file("write", "src/x", dir.path))).toBe(false);
  });

  test("outside of the working directory is understood with the links on its way", async () => {
    await using dir = tmp();
    await using other = tmp();
    mkdirSync(other.file("real"));
    symlinkSync("real", other.file("alias"));
    const { allows } = rules([`read(${other.file("alias")}/*)`], [], dir.path);
    expect(allows(file("read", other.file("alias/x"), dir.path))).toBe(true);
    expect(allows(file("read", other.file("real/x"), dir.path))).toBe(true);
  });

  test("that denies holds for the name as well as for the place", async () => {
    await using dir = tmp();
    await Bun.write(dir.file("secret"), "");
    symlinkSync("secret", dir.file(".env"));
    const denying = (pattern: string, path: string) =>
      rules([], [`read(${pattern})`], dir.path).denying(file("read", path, dir.path));
    expect(denying(".env", ".env")).toBeDefined();
    expect(denying("secret", ".env")).toBeDefined();
    expect(denying("secret", `../${dir.path.slice(dirname(dir.path).length + 1)}/secret`)).toBeDefined();
  });

  test.each([
    ["read(secret)", "secret/deep/x", true],
    ["read(secret/)", "secret/x", true],
    ["read(**/secret)", "a/secret/x", true],
    ["read(secret)", "secret-not/x", false],
    ["read(src/*)", "src/deep/x", false],
    ["read(a\\*)", "a*/x", true],
  ])("that denies and ends in a name holds for all below it: %s and %s", (rule, path, expected) => {
    expect(rules([], [rule]).denying(file("read", path)) !== undefined).toBe(expected);
  });

  test("that allows a name holds for nothing below it", () => {
    expect(rules(["read(/etc/x)"]).allows(file("read", "/etc/x/y"))).toBe(false);
  });

  test("that denies reading denies searching too, for a file that is named and for one that is come across", () => {
    const { denying, deniesPath } = rules([], ["read(.env)", "find(build)"]);
    expect(denying(file("grep", ".env"))).toBe("read(.env) from --deny");
    expect(denying(file("grep", "."))).toBeUndefined();
    expect(deniesPath("grep", "/project/.env")).toBe(true);
    expect(deniesPath("find", "/project/.env")).toBe(false);
    expect(deniesPath("find", "/project/build/x")).toBe(true);
    expect(deniesPath("ls", "/project/build/x")).toBe(false);
  });

  test("wants every path of a call covered to allow it, and one to deny it", () => {
    const two = { ...file("write", "src/a"), paths: ["/project/src/a", "/x"], realPaths: ["/project/src/a", "/x"] };
    expect(rules(["write(src/**)"]).allows(two)).toBe(false);
    expect(rules(["write(src/**)", "write(/x)"]).allows(two)).toBe(true);
    expect(rules([], ["write(/x)"]).denying(two)).toBeDefined();
  });
});

test.each([
  ["mcp__git__*", "mcp__git__status", true],
  ["mcp__git__status", "mcp__git__status", true],
  ["mcp__*", "mcp__any__thing", true],
  ["mcp__git__*", "mcp__gitx__status", false],
  ["mcp__git__status", "mcp__git__statusx", false],
])("%s and the tool %s", (rule, toolName, expected) => {
  const call = { ...bash(""), toolName, args: { x: 1 } };
  expect(rules([rule]).allows(call)).toBe(expected);
  expect(rules([], [rule]).denying(call) !== undefined).toBe(expected);
});

test.each([
  ["", "not of the form"],
  ["bash(ls", "not of the form"],
  ["bash(ls) x", "not of the form"],
  ["basch(ls)", "there is no tool 'basch'"],
  ["ba*", "there is no tool 'ba*'"],
  ["bash()", "not one simple command"],
  ["bash(*)", "not one simple command"],
  ["bash(ls; rm)", "not one simple command"],
  ["bash(git * push)", "not one simple command"],
  ["bash(A=1 ls)", "not one simple command"],
  ["bash(npm run tes*)", "not one simple command"],
  ["read()", "not a path"],
  ["read({a/b,c})", "not a path"],
  ["mcp__x__y(z)", "takes no pattern"],
])("the rule %p is refused with a reason", (rule, reason) => {
  expect(() => rules([rule])).toThrow(reason);
  expect(() => rules([], [rule])).toThrow(`the rule '${rule}' cannot be used`);
});
