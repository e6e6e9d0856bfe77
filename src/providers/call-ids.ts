// Ids for the calls of an answer whose provider leaves some out or repeats them.
import type { ModelMessage } from "../protocol/message.ts";
import { numbered } from "../util/unique-ids.ts";

/** The id of an answer's next call; `own` is the provider's, "" where it gave none. */
export type CallIds = (own: string, position: number) => string;

/** Own ids stay, numbered where one comes twice in the answer; one that is made up is free in the whole conversation before it. */
export function createCallIds(history: readonly ModelMessage[]): CallIds {
  const inAnswer = new Set<string>();
  const before = new Set(history.flatMap(callIdsOf));
  return (own, position) => {
    const id = own
      ? numbered(own, (form) => inAnswer.has(form))
      : numbered(`call_${position}`, (form) => inAnswer.has(form) || before.has(form));
    inAnswer.add(id);
    return id;
  };
}

function callIdsOf(message: ModelMessage): string[] {
  if (message.role !== "assistant") return [];
  return message.content.flatMap((block) => (block.type === "toolCall" ? [block.id] : []));
}
