// The agent's questions to the user of a client, and the answers.
import type { UiDialog, UiResponse } from "../protocol/ui.ts";
import type { Received } from "../protocol/unknown.ts";

/**
 * Answers a question: `confirm` with true or false, `select` with one of its options, `input` and `editor` with a text. Undefined, an
 * answer of another kind, and one that is thrown cancel the question, which is a no.
 */
export type Approve = (
  request: Received<UiDialog>,
) => boolean | string | undefined | Promise<boolean | string | undefined>;

export function toUiResponse(request: Received<UiDialog>, answer: boolean | string | undefined): UiResponse {
  const { id, method } = request;
  if (method === "confirm") return typeof answer === "boolean" ? { id, confirmed: answer } : { id, cancelled: true };
  if (typeof answer !== "string") return { id, cancelled: true };
  const possible = method !== "select" || request.options.includes(answer);
  return possible ? { id, value: answer } : { id, cancelled: true };
}
