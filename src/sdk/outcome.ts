// What a run has come to, summed up from its events as they pass.
import type { AssistantMessage, Message, StopReason, Usage } from "../protocol/message.ts";
import type { DeniedCall } from "../protocol/outcome.ts";
import type { ReceivedRecord } from "../protocol/record.ts";
import type { OrUnknown, Received } from "../protocol/unknown.ts";
import { addUsage, emptyUsage } from "../protocol/usage.ts";

/** Why there is no whole answer. */
export interface RunFailure {
  /** The agent's own code (`rate_limit`, `turn_limit`, …) where it tells one (this program does, pi does not), or else the stop reason. */
  readonly code: string;
  /** In the agent's or the provider's words. */
  readonly message: string;
  /** What to do next. */
  readonly hint?: string | undefined;
}

/** What came of a run, in JSON and RPC mode alike. */
export interface Outcome {
  /** The last answer's text, as far as it came; empty where there is none. */
  readonly text: string;
  /** Every message that was added to the conversation, in order, the user's own and the tools' results included. */
  readonly messages: readonly OrUnknown<Message>[];
  /** Tokens and US dollars, the sum over all answers. */
  readonly usage: Usage;
  /** Of the last answer; undefined where there is none. */
  readonly stopReason: StopReason | undefined;
  /** It was ended before its time, by an abort or a signal. */
  readonly aborted: boolean;
  /** Undefined when the last answer is whole. */
  readonly error: RunFailure | undefined;
  /** Calls that nobody could allow; told by this program alone. */
  readonly deniedCalls: readonly DeniedCall[];
}

/** A sum that records are added to. */
export interface OutcomeFold {
  /** Throws on a message that lacks what is summed up, and is then as before. */
  add(record: ReceivedRecord): void;
  outcome(): Outcome;
}

/** The sum of no records yet. */
export function foldOutcome(): OutcomeFold {
  const messages: OrUnknown<Message>[] = [];
  let usage = emptyUsage();
  let last: Received<AssistantMessage> | undefined;
  let text = "";
  let aborted: boolean | undefined;
  let error: RunFailure | undefined;
  let deniedCalls: readonly DeniedCall[] = [];

  return {
    add(record) {
      if (record.type === "message_end") {
        if (record.message.role === "assistant") {
          text = textOf(record.message);
          usage = addUsage(usage, record.message.usage);
          last = record.message;
        }
        messages.push(record.message);
      } else if (record.type === "agent_settled") {
        aborted = record.aborted;
        error = record.error;
        deniedCalls = record.deniedCalls ?? [];
      }
    },
    outcome() {
      const isAborted = aborted ?? last?.stopReason === "aborted";
      return {
        text,
        messages: [...messages],
        usage,
        stopReason: last?.stopReason,
        aborted: isAborted,
        error: error ?? failureOf(last, isAborted),
        deniedCalls,
      };
    },
  };
}

function textOf({ content }: Received<AssistantMessage>): string {
  return content.map((block) => (block.type === "text" ? block.text : "")).join("");
}

/** The failure of an agent that does not tell one by itself. */
function failureOf(last: Received<AssistantMessage> | undefined, isAborted: boolean): RunFailure | undefined {
  if (isAborted) return { code: "aborted", message: "The run was aborted" };
  if (last?.stopReason === "error") return { code: "error", message: last.errorMessage ?? "The request failed" };
  return last?.stopReason === "length"
    ? { code: "length", message: "The answer was cut off by the output limit" }
    : undefined;
}
