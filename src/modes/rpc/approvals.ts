// The gate's questions over the wire: each is a request with an id of its own, and waits for the answer with that id.
import type { Answer, Ask, Question } from "../../permission/gate.ts";
import type { UiDialog, UiResponse } from "../../protocol/ui.ts";

export interface ApprovalOptions {
  /** `select` also offers a yes for the session. */
  readonly method: "confirm" | "select";
  /** After so many milliseconds without an answer it counts as a no. */
  readonly timeoutMs: number | undefined;
  readonly write: (request: UiDialog) => void;
}

export interface Approvals {
  readonly ask: Ask;
  /** An answer to a question that nobody waits for is ignored. */
  answer(response: UiResponse): void;
  /** Nobody can answer any more: what waits is a no, and so is every further question. */
  close(): void;
}

const once = "Allow once";
const deny = "Deny";

export function createApprovals({ method, timeoutMs, write }: ApprovalOptions): Approvals {
  const waiting = new Map<string, Waiting>();
  let closed = false;

  function toRequest(question: Question, id: string): UiDialog {
    const timeout = timeoutMs === undefined ? {} : { timeout: timeoutMs };
    const base = { type: "extension_ui_request", id } as const;
    if (method === "confirm") {
      return { ...base, method, title: titleOf(question), message: question.preview, ...timeout };
    }
    const title = `${titleOf(question)}\n\n${question.preview}`;
    return { ...base, method, title, options: [once, forSession(question), deny], ...timeout };
  }

  return {
    async ask(question, signal) {
      signal.throwIfAborted();
      if (closed) return { choice: "nobody" };
      const id = Bun.randomUUIDv7();
      const { promise, resolve, reject } = Promise.withResolvers<Answer>();
      const abort = () => reject(signal.reason);
      const timer = timeoutMs === undefined ? undefined : setTimeout(() => resolve({ choice: "late" }), timeoutMs);
      signal.addEventListener("abort", abort);
      waiting.set(id, { resolve, forSession: forSession(question) });
      write(toRequest(question, id));
      try {
        return await promise;
      } finally {
        waiting.delete(id);
        clearTimeout(timer);
        signal.removeEventListener("abort", abort);
      }
    },
    answer({ id, value, confirmed, cancelled }) {
      const question = waiting.get(id);
      if (!question) return;
      // Only the exact words of a yes are one; everything else, a cancelled question included, is a no.
      const isOnce = confirmed === true || value === once;
      const choice = isOnce ? "once" : value === question.forSession ? "session" : "no";
      question.resolve({ choice: cancelled ? "no" : choice });
    },
    close() {
      closed = true;
      for (const { resolve } of [...waiting.values()]) resolve({ choice: "nobody" });
    },
  };
}

interface Waiting {
  readonly resolve: (answer: Answer) => void;
  /** The words of a yes for the session. */
  readonly forSession: string;
}

function forSession({ exactly }: Question): string {
  return `Allow for this session: ${exactly}`;
}

function titleOf({ toolName, summary, reason }: Question): string {
  const head = toolName === "bash" ? "Run this command?" : `Allow ${toolName} ${summary}?`;
  return `${head} (${reason})`;
}
