// A conversation in an array, for tests of the loop.
import type { Message } from "../../src/protocol/message.ts";
import type { Conversation } from "../../src/session/session.ts";

/** Reads and writes `history` itself. */
export function conversationIn(history: Message[]): Conversation {
  return {
    messages: () => history,
    add: (message) => void history.push(message),
    omit(message) {
      if (history.includes(message)) history.splice(history.lastIndexOf(message), 1);
      return undefined;
    },
  };
}
