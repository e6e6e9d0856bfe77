// A run as it goes: the events of one message to the agent, and what comes of it.
import type { DeniedCall } from "../protocol/event.ts";
import type { Message, StopReason, Usage } from "../protocol/message.ts";
import type { ReceivedEvent } from "../protocol/record.ts";
import type { Disposition } from "../protocol/rpc.ts";
import type { OrUnknown } from "../protocol/unknown.ts";

/** What a run has come to. */
export interface RunOutcome {
  readonly disposition: Disposition["disposition"];
  /** The last answer's text; empty for a message that was handled at once. */
  readonly text: string;
  /** Every message that the run added to the conversation, in order, the user's own and the tools' results included. */
  readonly messages: readonly OrUnknown<Message>[];
  /** The sum over all requests of the run. */
  readonly usage: Usage;
  /** Of the last answer; undefined where there is none. */
  readonly stopReason: StopReason | undefined;
  readonly aborted: boolean;
  /** Why it did not end with a whole answer. `hint` says what to do next. */
  readonly error: { readonly code: string; readonly message: string; readonly hint?: string | undefined } | undefined;
  /** Calls that nobody could allow. */
  readonly deniedCalls: readonly DeniedCall[];
}

/**
 * The events of one message to the agent, from its acceptance to `agent_settled`, which is the last; to be iterated once. It begins by
 * itself; the methods may be called at any time, with or without an iteration, and resolve when it is over.
 * Iterating and the methods reject with `CommandError` when the agent refuses the message, `ExitError` when the process ends first,
 * `AbortedError` when the signal aborts, `ProtocolError`, `ClosedError`. Leaving the loop early lets the run go on by itself.
 */
export interface AgentRun extends AsyncIterable<ReceivedEvent> {
  /** The last answer's text. Rejects with `RunFailedError` when the run did not end with a whole answer. */
  text(): Promise<string>;
  messages(): Promise<readonly OrUnknown<Message>[]>;
  usage(): Promise<Usage>;
  /** All of it, however it ended. */
  outcome(): Promise<RunOutcome>;
}
