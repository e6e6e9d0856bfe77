import { describe, expect, test } from "bun:test";
import { mkdirSync, realpathSync, symlinkSync } from "node:fs";
import type { Answer, GateRequest, Question } from "../../src/permission/gate.ts";
import { createGate, judge } from "../../src/permission/policy.ts";
import type { ToolAccess } from "../../src/protocol/message.ts";
import { realTarget, resolvePath } from "../../src/util/paths.ts";
import { tmp } from "../helpers/tmp.ts";

const options = { realCwd: "/project", yolo: false };

function request(access: ToolAccess, realPaths: string[] = []): GateRequest {
  const preview = async () => "all of it";
  return { toolName: "tool", access, args: {}, summary: "summary", paths: realPaths, realPaths, preview };
}

function command(text: string): GateRequest {
  return { ...request("execute"), toolName: "bash", args: { command: text }, summary: text };
}

test.each([
  ["reading inside", request("read", ["/project/a"]), { decision: "allow" }],
  ["writing inside", request("write", ["/project/a"]), { decision: "allow" }],
  ["the folder itself", request("read", ["/project"]), { decision: "allow" }],
  [
    "reading outside",
    request("read", ["/etc/x"]),
    { decision: "ask", reason: "outside the working directory: /etc/x" },
  ],
  [
    "writing outside",
    request("write", ["/etc/x"]),
    { decision: "ask", reason: "outside the working directory: /etc/x" },
  ],
  [
    "a name that only begins alike",
    request("read", ["/project-evil/x"]),
    { decision: "ask", reason: "outside the working directory: /project-evil/x" },
  ],
  [
    "one of two outside",
    request("read", ["/project/a", "/b"]),
    { decision: "ask", reason: "outside the working directory: /b" },
  ],
  ["a command", request("execute"), { decision: "ask", reason: "it runs a command" }],
] as const)("%s", (_, call, judgement) => {
  expect(judge(call, options)).toEqual(judgement);
  expect(judge(call, { ...options, yolo: true })).toEqual({ decision: "allow" });
});

describe("a link in the working directory", () => {
  test.each([
    ["to a file outside", "notes.md", "victim", "ask"],
    ["to a folder outside", "out/new.txt", "new.txt", "ask"],
    ["to nothing yet, outside", "draft", "draft-to-be", "ask"],
    ["that stays inside", "alias/x", undefined, "allow"],
  ] as const)("%s is judged by where it leads", async (_, path, outside, decision) => {
    await using dir = tmp();
    await using other = tmp();
    await Bun.write(other.file("victim"), "");
    mkdirSync(dir.file("inner"));
    symlinkSync(other.file("victim"), dir.file("notes.md"));
    symlinkSync(other.path, dir.file("out"));
    symlinkSync(other.file("draft-to-be"), dir.file("draft"));
    symlinkSync("inner", dir.file("alias"));
    const call = request("write", [realTarget(resolvePath(dir.path, path))]);
    const judgement = judge(call, { realCwd: dir.path, yolo: false });
    expect<unknown>(judgement).toEqual(
      decision === "allow"
        ? { decision }
        : { decision, reason: `outside the working directory: ${other.file(outside ?? "")}` },
    );
  });

  test("may be the working directory itself", async () => {
    await using dir = tmp();
    mkdirSync(dir.file("real"));
    symlinkSync("real", dir.file("root"));
    const cwd = dir.file("root");
    const call = request("write", [realTarget(resolvePath(cwd, "new.txt"))]);
    expect(judge(call, { realCwd: realpathSync(cwd), yolo: false })).toEqual({ decision: "allow" });
  });
});

describe("the gate", () => {
  function answering(...answers: Answer[]) {
    const questions: Question[] = [];
    const gate = createGate(options, async (question) => {
      questions.push(question);
      return answers.shift() ?? { choice: "no" };
    });
    return { gate, questions };
  }
  const { signal } = new AbortController();

  test("lets pass what the policy allows, without a question", async () => {
    const { gate, questions } = answering({ choice: "no" });
    expect(await gate.check(request("read", ["/project/a"]), signal)).toEqual({ allowed: true });
    expect(questions).toEqual([]);
  });

  test("asks with everything that would happen and passes the answer on", async () => {
    const { gate, questions } = answering({ choice: "no", reason: "use make" });
    const reason = "denied: the user did not approve tool, and says: use make";
    expect(await gate.check(request("execute"), signal)).toEqual({ allowed: false, by: "user", reason });
    expect(questions).toEqual([
      {
        toolName: "tool",
        summary: "summary",
        reason: "it runs a command",
        preview: "all of it",
        exactly: "tool with these exact arguments",
        rule: undefined,
      },
    ]);
  });

  test.each([
    ["nobody", "nobody can be asked in this run"],
    ["late", "the user was asked, but did not answer in time"],
  ] as const)("tells the model what became of a question without an answer: %s", async (choice, words) => {
    const { gate } = answering({ choice });
    const reason = expect.stringContaining(words);
    expect(await gate.check(request("execute"), signal)).toEqual({ allowed: false, by: "nobody", reason });
  });

  test("remembers a yes for the session for exactly that command", async () => {
    const { gate, questions } = answering({ choice: "session" });
    expect(await gate.check(command("make test"), signal)).toEqual({ allowed: true });
    expect(await gate.check(command("make test"), signal)).toEqual({ allowed: true });
    expect(questions).toHaveLength(1);
    for (const other of ["make test ", "make test; touch pwned", "make", "make test\n", "Make test"]) {
      expect((await gate.check(command(other), signal)).allowed).toBe(false);
    }
  });

  test("remembers a yes for a server's tool for exactly those arguments, whatever they are called", async () => {
    const { gate, questions } = answering({ choice: "session" });
    const call = (args: GateRequest["args"]) => ({ ...request("execute"), toolName: "mcp__s__run", args });
    await gate.check(call({ command: "ls", host: "here" }), signal);
    expect(await gate.check(call({ command: "ls", host: "here" }), signal)).toEqual({ allowed: true });
    expect(questions).toHaveLength(1);
    await gate.check(call({ command: "ls", host: "there" }), signal);
    expect(questions.map(({ reason, exactly, rule }) => ({ reason, exactly, rule }))[1]).toEqual({
      reason: "it is a tool of an MCP server",
      exactly: "mcp__s__run with these exact arguments",
      rule: "mcp__s__run",
    });
  });

  test("remembers a yes for the session for exactly that tool and place", async () => {
    const { gate } = answering({ choice: "session" });
    const write = (path: string, content: string) => ({
      ...request("write", [path]),
      toolName: "write",
      args: { content },
    });
    expect(await gate.check(write("/etc/x", "1"), signal)).toEqual({ allowed: true });
    expect(await gate.check(write("/etc/x", "2"), signal)).toEqual({ allowed: true });
    expect((await gate.check(write("/etc/y", "1"), signal)).allowed).toBe(false);
    expect((await gate.check({ ...write("/etc/x", "1"), toolName: "edit" }, signal)).allowed).toBe(false);
  });

  test("forgets a yes that was given once", async () => {
    const { gate, questions } = answering({ choice: "once" });
    expect(await gate.check(command("make"), signal)).toEqual({ allowed: true });
    expect(await gate.check(command("make"), signal)).toMatchObject({ allowed: false, by: "user" });
    expect(questions).toHaveLength(2);
  });

  test.each([
    ["git status", "bash(git status)"],
    ["git  log --oneline -n 3", "bash(git log --oneline -n 3)"],
    ["git commit -m 'two words'", "bash(git commit -m 'two words')"],
    ["git status; ls", undefined],
    ["echo $HOME", undefined],
    ["ls *", undefined],
  ])("names the rule that would allow %p", async (line, rule) => {
    const { gate, questions } = answering({ choice: "nobody" });
    await gate.check(command(line), signal);
    expect(questions[0]?.rule).toBe(rule);
  });

  test("names the rule that would allow a file, however it is called", async () => {
    const { gate, questions } = answering();
    await gate.check({ ...request("read", ["/etc/we[ir]d*"]), toolName: "read" }, signal);
    expect(questions[0]?.rule).toBe("read(/etc/we\\[ir\\]d\\*)");
  });

  test("does not ask when it cannot be said what would happen", async () => {
    const { gate, questions } = answering({ choice: "once" });
    const call = { ...request("execute"), preview: () => Promise.reject(new Error("not found")) };
    await expect(gate.check(call, signal)).rejects.toThrow("not found");
    expect(questions).toEqual([]);
  });
});

describe("what comes first", () => {
  const rules = { denying: () => "bash(rm) from --deny", deniesPath: () => false, allows: () => true };

  test("a tool that is not offered is denied, whatever else is said", () => {
    const judgement = judge(command("ls"), { ...options, yolo: true, rules, withheld: () => "--read-only" });
    expect(judgement).toEqual({
      decision: "deny",
      reason: "denied: bash is not available in this run (--read-only)",
    });
  });

  test("a deny rule wins over --yolo and over an allow rule", () => {
    expect(judge(command("rm x"), { ...options, yolo: true, rules })).toEqual({
      decision: "deny",
      reason: expect.stringContaining("the rule bash(rm) from --deny forbids this"),
    });
  });

  test("an allow rule wins over the question", () => {
    const allowing = { denying: () => undefined, deniesPath: () => false, allows: () => true };
    expect(judge(command("ls"), { ...options, rules: allowing })).toEqual({ decision: "allow" });
  });

  test("writing into the folder of pi-ts asks even inside the working directory; reading does not", () => {
    const own = { ...options, ownFolder: () => "/project/.pi-ts" };
    expect(judge(request("write", ["/project/.pi-ts/trust.json"]), own).decision).toBe("ask");
    expect(judge(request("read", ["/project/.pi-ts/config.toml"]), own).decision).toBe("allow");
  });
});
