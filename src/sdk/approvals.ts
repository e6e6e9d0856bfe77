// The agent's questions to the user of a client, and the answers.
import type { ReceivedRecord } from "../protocol/record.ts";
import type { UiDialog, UiResponse } from "../protocol/ui.ts";
import type { Received } from "../protocol/unknown.ts";

/**
 * Answers a question: `confirm` with true or false, `select` with one of its options, `input` and `editor` with a text. Undefined and an
 * answer of another kind cancel the question, which is a no; so does throwing.
 */
export type Approve = (
  request: Received<UiDialog>,
) => boolean | string | undefined | Promise<boolean | string | undefined>;

const dialogs: ReadonlySet<string> = new Set(["confirm", "select", "input", "editor"] satisfies UiDialog["method"][]);

export function isDialog(record: ReceivedRecord): record is Received<UiDialog> {
  return record.type === "extension_ui_request" && dialogs.has(record.method);
}

export function toUiResponse(request: Received<UiDialog>, answer: boolean | string | undefined): UiResponse {
  const { id, method } = request;
  if (method === "confirm") return typeof answer === "boolean" ? { id, confirmed: answer } : { id, cancelled: true };
  if (typeof answer !== "string") return { id, cancelled: true };
  const isPossible = method !== "select" || request.options.includes(answer);
  return isPossible ? { id, value: answer } : { id, cancelled: true };
}
