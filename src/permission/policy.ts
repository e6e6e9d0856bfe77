// The policy: allow or ask, judged by what a call does and where. Pure.
import { isInside } from "../util/paths.ts";
import type { Ask, Gate, GateRequest } from "./gate.ts";

export interface PolicyOptions {
  /** The working directory with symlinks resolved. */
  readonly realCwd: string;
  /** Everything is allowed without a question. */
  readonly yolo: boolean;
}

export type Judgement = { readonly decision: "allow" } | { readonly decision: "ask"; readonly reason: string };

/** Commands ask, and so does anything outside the working directory. */
export function judge(request: GateRequest, options: PolicyOptions): Judgement {
  if (options.yolo) return { decision: "allow" };
  if (request.access === "execute") return { decision: "ask", reason: "it runs a command" };
  const outside = request.realPaths.filter((path) => !isInside(options.realCwd, path));
  if (outside.length === 0) return { decision: "allow" };
  return { decision: "ask", reason: `outside the working directory: ${outside.join(", ")}` };
}

/** The gate that follows the policy and asks where it says so. */
export function createGate(options: PolicyOptions, ask: Ask): Gate {
  return {
    async check(request, signal) {
      const judgement = judge(request, options);
      if (judgement.decision === "allow") return { allowed: true };
      const preview = await request.preview();
      return ask({ toolName: request.toolName, summary: request.summary, reason: judgement.reason, preview }, signal);
    },
  };
}
