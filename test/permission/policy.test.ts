import { describe, expect, test } from "bun:test";
import { mkdirSync, realpathSync, symlinkSync } from "node:fs";
import type { GateRequest, Question, Verdict } from "../../src/permission/gate.ts";
import { createGate, judge } from "../../src/permission/policy.ts";
import type { ToolAccess } from "../../src/protocol/message.ts";
import { realTarget, resolvePath } from "../../src/util/paths.ts";
import { tmp } from "../helpers/tmp.ts";

const options = { realCwd: "/work", yolo: false };

function request(access: ToolAccess, realPaths: string[] = []): GateRequest {
  return { toolName: "tool", access, summary: "summary", realPaths, preview: async () => "all of it" };
}

test.each([
  ["reading inside", request("read", ["/work/a"]), { decision: "allow" }],
  ["writing inside", request("write", ["/work/a"]), { decision: "allow" }],
  ["the folder itself", request("read", ["/work"]), { decision: "allow" }],
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
    request("read", ["/work-evil/x"]),
    { decision: "ask", reason: "outside the working directory: /work-evil/x" },
  ],
  [
    "one of two outside",
    request("read", ["/work/a", "/b"]),
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
  function answering(verdict: Verdict) {
    const questions: Question[] = [];
    const gate = createGate(options, async (question) => {
      questions.push(question);
      return verdict;
    });
    return { gate, questions };
  }
  const { signal } = new AbortController();

  test("lets pass what the policy allows, without a question", async () => {
    const { gate, questions } = answering({ allowed: false, reason: "no" });
    expect(await gate.check(request("read", ["/work/a"]), signal)).toEqual({ allowed: true });
    expect(questions).toEqual([]);
  });

  test("asks with everything that would happen and passes the answer on", async () => {
    const { gate, questions } = answering({ allowed: false, reason: "no" });
    expect(await gate.check(request("execute"), signal)).toEqual({ allowed: false, reason: "no" });
    expect(questions).toEqual([
      { toolName: "tool", summary: "summary", reason: "it runs a command", preview: "all of it" },
    ]);
  });

  test("does not ask about what could not run anyway", async () => {
    const { gate, questions } = answering({ allowed: true });
    const call = { ...request("execute"), preview: () => Promise.reject(new Error("not found")) };
    await expect(gate.check(call, signal)).rejects.toThrow("not found");
    expect(questions).toEqual([]);
  });
});
