// A model that does as it is told, so that a test says in its prompt what an agent's tools are to do.
import { done, finish, textDelta, usage } from "./chat-stream.ts";
import { gate, type RecordedRequest, type ReplayServer, type Reply, startReplayServer } from "./replay-server.ts";

export interface ObedientModel extends ReplayServer {
  /** Lets the answers to `wait` that are open come to their end. */
  release(): void;
}

interface ChatMessage {
  readonly role: string;
  readonly content?: string | readonly { readonly type: string; readonly text?: string }[];
}

/**
 * `read {"path":"x"}` makes it call that tool with those arguments, and then say what the tool's result was. `wait` makes it say a word and go
 * silent until it is released. To everything else it says "You said: …". An answer counts 1000 tokens in and 100 out.
 */
export async function startObedientModel(): Promise<ObedientModel> {
  let held = gate();
  let calls = 0;

  function answer({ body }: RecordedRequest): Reply {
    const messages: readonly ChatMessage[] = body.messages;
    const last = messages.findLastIndex(({ role }) => role === "user");
    const said = textOf(messages[last]);
    const results = messages.slice(last).filter(({ role }) => role === "tool");
    const counts = { prompt: 1000, completion: 100 };
    if (results.length > 0) return { turn: { text: results.map(textOf).join("\n"), usage: counts } };
    if (said === "wait") {
      return {
        body: [textDelta("Waiting"), held.opened, textDelta(" is over."), finish("stop"), usage(1000, 100), done],
      };
    }
    const [, name, args] = /^(\w+) (\{.*\})$/s.exec(said) ?? [];
    if (name !== undefined && args !== undefined) {
      return { turn: { calls: [{ id: `call_${++calls}`, name, arguments: args }], usage: counts } };
    }
    return { turn: { text: `You said: ${said}`, usage: counts } };
  }

  const release = () => {
    held.open();
    held = gate();
  };
  return Object.assign(await startReplayServer(answer), { release });
}

function textOf(message: ChatMessage | undefined): string {
  const content = message?.content ?? "";
  return typeof content === "string" ? content : content.map(({ text = "" }) => text).join("");
}
