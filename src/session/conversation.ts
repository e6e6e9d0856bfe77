// The conversation at a session's leaf: messages for the next request, each kept in step with its entry.
import type { Message } from "../protocol/message.ts";
import { branchSettings, buildContext, type SessionContext } from "../protocol/tree.ts";
import type { Conversation, Session } from "./session.ts";

export interface SessionConversation extends Conversation {
  /** The entry that a message is stored in. */
  entryIdOf(message: Message): string | undefined;
  /** The model and thinking level that the branch was on last. */
  settings(): Pick<SessionContext, "model" | "thinkingLevel">;
  /** Reads the branch anew, after the session moved to another leaf or was compacted. */
  reload(): void;
}

export function createConversation(session: Session): SessionConversation {
  let messages: Message[] = [];
  let entryIds = new Map<Message, string>();

  function reload(): void {
    const context = buildContext(session.entries(), session.leafId());
    messages = [...context.messages];
    entryIds = new Map(messages.map((message, i) => [message, context.entryIds[i] as string]));
  }

  reload();
  return {
    messages: () => messages,
    add(message) {
      const { id } = session.append({ type: "message", message });
      messages.push(message);
      entryIds.set(message, id);
    },
    omit(message) {
      const targetId = entryIds.get(message);
      if (targetId === undefined) return undefined;
      messages.splice(messages.lastIndexOf(message), 1);
      entryIds.delete(message);
      return session.append({ type: "context_edit", targetId, replacement: null });
    },
    entryIdOf: (message) => entryIds.get(message),
    settings: () => branchSettings(session.entries(), session.leafId()),
    reload,
  };
}
