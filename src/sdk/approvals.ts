// The agent's questions to the user of a client, and the answers.
import type { ReceivedRecord } from "../protocol/record.ts";
import type { UiDialog, UiNotice, UiResponse } from "../protocol/ui.ts";
import type { Received } from "../protocol/unknown.ts";

/**
 * Answers a question: `confirm` with true or false, `select` with one of its options, `input` and `editor` with a text. Undefined and an
 * answer of another kind cancel the question, which is a no; so does throwing.
 */
export type Approve = (
  request: Received<UiDialog>,
) => boolean | string | undefined | Promise<boolean | string | undefined>;

const dialogs: ReadonlySet<string> = new Set(["confirm", "select", "input", "editor"] satisfies UiDialog["method"][]);

/** A choice that has nothing to choose from is none. */
export function isDialog(record: ReceivedRecord): record is Received<UiDialog> {
  if (record.type !== "extension_ui_request" || !dialogs.has(record.method)) return false;
  return record.method !== "select" || Array.isArray(record.options);
}

const notices: ReadonlySet<unknown> = new Set([
  "notify",
  "setStatus",
  "setWidget",
  "setTitle",
  "set_editor_text",
] satisfies UiNotice["method"][]);

/** The id of what may be a question, of a kind that this version does not know; an agent might wait for its answer for ever. */
export function idOfStrangeQuestion(record: ReceivedRecord): string | undefined {
  const { type, method, id } = (record.type === "unknown" ? record.raw : record) as Readonly<Record<string, unknown>>;
  const isStrange = type === "extension_ui_request" && !notices.has(method);
  return isStrange && typeof id === "string" ? id : undefined;
}

/** An answer that does not suit the question cancels it. */
export function toUiResponse(request: Received<UiDialog>, answer: boolean | string | undefined): UiResponse {
  const { id, method } = request;
  if (method === "confirm") return typeof answer === "boolean" ? { id, confirmed: answer } : { id, cancelled: true };
  if (typeof answer !== "string") return { id, cancelled: true };
  const isPossible = method !== "select" || request.options.includes(answer);
  return isPossible ? { id, value: answer } : { id, cancelled: true };
}
