// A chat-completions server whose models answer by their names, as the one behind the recordings in test/fixtures/wire did.
import { done, finish, reasoningDelta, textDelta, toolCallDeltas, usage } from "./chat-stream.ts";
import { type RecordedRequest, type ReplayServer, type Reply, refusal, startReplayServer } from "./replay-server.ts";

export interface ScriptedModelsOptions {
  /** What the command of `bash-sleep` sleeps, in seconds; 2 if not given. */
  readonly sleep?: number;
}

/** `tools-2` stands for every `tools-N`. */
const names = ["hello", "tools-2", "bash-sleep", "bash-sleep-long", "think", "error-500", "error-500-once"];

/**
 * `hello` says a sentence in five deltas; `tools-N` calls bash N times before it, `bash-sleep` and `bash-sleep-long` once, with a command that
 * takes its time; `think` thinks before it; `error-500` always fails, `error-500-once` the first time.
 */
export function startScriptedModels({ sleep = 2 }: ScriptedModelsOptions = {}): Promise<ReplayServer> {
  const failed = new Set<string>();
  return startReplayServer(({ body }: RecordedRequest): Reply => {
    const model = String(body.model);
    const turn = callsSinceUser(body.messages);
    if (model === "error-500" || (model === "error-500-once" && !failed.has(model))) {
      failed.add(model);
      return refusal(500, { error: { message: "mock: internal", type: "server_error" } });
    }
    const tools = /^tools-(\d+)$/.exec(model);
    if (tools && turn < Number(tools[1])) return call({ command: `echo turn-${turn + 1}`, description: "echo" }, turn);
    const seconds = model === "bash-sleep" ? sleep : model === "bash-sleep-long" ? 60 : undefined;
    if (seconds !== undefined && turn === 0) return call({ command: `echo begun; sleep ${seconds}; echo ended` }, turn);
    const thinking = model === "think" ? ["Let me ", "think."].map((text) => reasoningDelta(text)) : [];
    const text = ["Hello", " from", " the", " mock", "."].map(textDelta);
    return { body: [...thinking, ...text, finish("stop"), ...ending] };
  });
}

const ending = [usage(1000, 100, 400), done];

function call(args: Record<string, string>, turn: number): Reply {
  const spec = { id: `call_${turn + 1}`, name: "bash", arguments: args };
  return { body: [...toolCallDeltas(spec, 0, 12), finish("tool_calls"), ...ending] };
}

/** How many results have come since the last message of the user's. */
function callsSinceUser(messages: readonly { readonly role: string }[]): number {
  return messages.slice(messages.findLastIndex(({ role }) => role === "user") + 1).filter(({ role }) => role === "tool")
    .length;
}

/** The config.toml that names this server as provider `mock`, without a key. */
export function scriptedModelsConfig({ url }: Pick<ReplayServer, "url">, contextWindow = 128_000): string {
  const models = names.map(
    (id) =>
      `[[providers.mock.models]]\nid = "${id}"\ncontext_window = ${contextWindow}\nmax_tokens = 16384\nreasoning = ${id === "think"}\n`,
  );
  return `provider = "mock"\nmodel = "hello"\n\n[providers.mock]\nbase_url = "${url}"\n\n${models.join("\n")}`;
}
