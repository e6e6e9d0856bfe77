// The package's public face: the client that drives an agent, the readers of its files, and the protocol. No side effects.
export * from "./protocol/index.ts";
export {
  AgentClient,
  type BashOptions,
  type MessageOptions,
  type PromptDisposition,
  type PromptOptions,
  type ReceivedResult,
} from "./sdk/agent-client.ts";
export type { AgentRun, RunOutcome } from "./sdk/agent-run.ts";
export type { Approve } from "./sdk/approvals.ts";
export * from "./sdk/errors.ts";
export type { CallOptions, LaunchOptions, StartOptions } from "./sdk/options.ts";
export type { Outcome, RunFailure } from "./sdk/outcome.ts";
export { type OneRun, type RunOnceOptions, runOnce } from "./sdk/run-once.ts";
export {
  buildContext,
  type ReadSessionOptions,
  type ReceivedContext,
  readSession,
  readSessionHeader,
} from "./sdk/session-file.ts";
export {
  createLineSplitter,
  createTextSplitter,
  type Line,
  type LineSplitter,
  type TextLine,
  type TextSplitter,
} from "./util/jsonl.ts";
