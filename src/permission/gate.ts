// The gate: whether a tool call may run. It sits in the executor, so no tool can forget it.
import type { ToolAccess } from "../protocol/message.ts";

/** A call as the gate sees it. */
export interface GateRequest {
  readonly toolName: string;
  readonly access: ToolAccess;
  /** The model's arguments, checked by the tool. */
  readonly args: Readonly<Record<string, unknown>>;
  /** The call in a few words, unsanitized. */
  readonly summary: string;
  /** The paths it touches, absolute, as the model named them. */
  readonly paths: readonly string[];
  /** The same paths with every symlink on the way resolved. */
  readonly realPaths: readonly string[];
  /** All that would happen: the whole command, or a diff, or why it would fail; unsanitized. */
  readonly preview: () => Promise<string>;
}

/** `reason` goes to the model, so it says what was refused and why. */
export type Verdict =
  | { readonly allowed: true }
  | { readonly allowed: false; readonly by: Refuser; readonly reason: string };

/** Whose no it was: a rule's, the user's, or nobody's, when there was no answer. */
export type Refuser = "rule" | "user" | "nobody";

export interface Gate {
  /** Decides on one call; may wait for a person. Rejects only when `signal` fires, or with what `preview` throws. */
  check(request: GateRequest, signal: AbortSignal): Promise<Verdict>;
}

/** A question to a person, complete: nothing of what would happen is left out. All text unsanitized. */
export interface Question {
  readonly toolName: string;
  readonly summary: string;
  /** Why this is asked, such as the real path outside the working directory. */
  readonly reason: string;
  readonly preview: string;
  /** What a yes for the session would hold for, such as `this exact command`. */
  readonly exactly: string;
  /** The rule that would allow this call and nothing else; undefined when none can, as for a compound command. */
  readonly rule: string | undefined;
}

/**
 * What became of a question: yes to this call, yes to this exact thing until the session ends, no (perhaps with words for the model),
 * nobody was there to ask, or nobody answered in time.
 */
export type Answer =
  | { readonly choice: "once" | "session" | "nobody" | "late" }
  | { readonly choice: "no"; readonly reason?: string };

/** Puts a question to whoever can answer. Rejects only when `signal` fires. */
export type Ask = (question: Question, signal: AbortSignal) => Promise<Answer>;
