// The policy: allow, deny or ask, judged by what a call does and where. `judge` is pure; the gate adds the question and its answers.
import { isInside } from "../util/paths.ts";
import type { Answer, Ask, Gate, GateRequest, Verdict } from "./gate.ts";

/** The user's rules, see `rules.ts`. */
export interface Rules {
  /** The rule that forbids a call, as `bash(rm *) from --deny`. */
  denying(request: GateRequest): string | undefined;
  /** Whether a rule for files keeps a tool from showing this absolute path when it comes across it. */
  deniesPath(toolName: string, path: string): boolean;
  allows(request: GateRequest): boolean;
}

export interface PolicyOptions {
  /** The working directory with symlinks resolved. */
  readonly realCwd: string;
  /** The folder of our own configuration with symlinks resolved: writing there asks even inside the working directory. Asked for with each write. */
  readonly ownFolder?: (() => string | undefined) | undefined;
  /** Whether a real path is the output of an earlier command of this run, which may be read wherever it is. */
  readonly isOutput?: ((realPath: string) => boolean) | undefined;
  /** Everything is allowed without a question, but for what a rule denies. */
  readonly yolo: boolean;
  /** Why a tool is not offered in this run; undefined for one that is. */
  readonly withheld?: ((toolName: string) => string | undefined) | undefined;
  readonly rules?: Rules | undefined;
}

export type Judgement =
  | { readonly decision: "allow" }
  | { readonly decision: "deny"; readonly reason: string }
  | { readonly decision: "ask"; readonly reason: string };

/**
 * The first that applies: a tool that is not offered and a deny rule refuse, `yolo` and an allow rule allow; then commands ask, and so does
 * anything outside the working directory.
 */
export function judge(request: GateRequest, options: PolicyOptions): Judgement {
  const { toolName } = request;
  const withheld = options.withheld?.(toolName);
  if (withheld !== undefined) {
    return { decision: "deny", reason: `denied: ${toolName} is not available in this run (${withheld})` };
  }
  const rule = options.rules?.denying(request);
  if (rule !== undefined) {
    return { decision: "deny", reason: `denied: the rule ${rule} forbids this. Do not look for a way around it` };
  }
  if (options.yolo || options.rules?.allows(request)) return { decision: "allow" };
  if (request.access === "execute") {
    return { decision: "ask", reason: isMcp(toolName) ? "it is a tool of an MCP server" : "it runs a command" };
  }
  const isReadable = (path: string) => request.access === "read" && options.isOutput?.(path);
  const outside = request.realPaths.filter((path) => !isInside(options.realCwd, path) && !isReadable(path));
  if (outside.length > 0) {
    return { decision: "ask", reason: `outside the working directory: ${outside.join(", ")}` };
  }
  const own = request.access === "write" ? options.ownFolder?.() : undefined;
  if (own !== undefined && request.realPaths.some((path) => isInside(own, path)))
    return { decision: "ask", reason: "it changes the settings of pi-ts itself" };
  return { decision: "allow" };
}

/** The gate that follows the policy and asks where it says so. It remembers what was allowed for the session. */
export function createGate(options: PolicyOptions, ask: Ask): Gate {
  const remembered = new Set<string>();
  return {
    async check(request, signal) {
      const judgement = judge(request, options);
      if (judgement.decision === "allow") return { allowed: true };
      if (judgement.decision === "deny") return { allowed: false, by: "rule", reason: judgement.reason };
      const { key, words } = exactThing(request);
      if (remembered.has(key)) return { allowed: true };
      const { toolName, summary } = request;
      const preview = await request.preview();
      const { suggestRule } = await import("./suggest-rule.ts");
      const rule = suggestRule(request, options.realCwd);
      const { reason } = judgement;
      const answer = await ask({ toolName, summary, reason, preview, exactly: words, rule }, signal);
      if (answer.choice === "session") remembered.add(key);
      return toVerdict(answer, toolName, reason);
    },
  };
}

function isMcp(toolName: string): boolean {
  return toolName.startsWith("mcp__");
}

/** What a yes for the session holds for: the same command to the letter, the same tool on the same real paths, or the same arguments. */
function exactThing({ toolName, args, realPaths }: GateRequest): { readonly key: string; readonly words: string } {
  // What an argument of a server's tool is about, only the server knows.
  if (typeof args.command === "string" && !isMcp(toolName)) {
    return { key: JSON.stringify([toolName, "command", args.command]), words: "this exact command" };
  }
  if (realPaths.length > 0) {
    return { key: JSON.stringify([toolName, "paths", ...realPaths]), words: `${toolName} on this exact path` };
  }
  return { key: JSON.stringify([toolName, "args", args]), words: `${toolName} with these exact arguments` };
}

function toVerdict(answer: Answer, toolName: string, asked: string): Verdict {
  switch (answer.choice) {
    case "once":
    case "session":
      return { allowed: true };
    case "nobody": {
      const reason = `denied: ${toolName} was not approved (${asked}), and nobody can be asked in this run. Go on without it, or say what you need`;
      return { allowed: false, by: "nobody", reason };
    }
    case "late": {
      const reason = `denied: ${toolName} was not approved (${asked}): the user was asked, but did not answer in time. Go on without it, or say what you need`;
      return { allowed: false, by: "nobody", reason };
    }
    case "no": {
      const refusal = `denied: the user did not approve ${toolName}`;
      return { allowed: false, by: "user", reason: answer.reason ? `${refusal}, and says: ${answer.reason}` : refusal };
    }
  }
}
