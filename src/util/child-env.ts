// The environment of the programs that the agent starts, commands and servers alike: without provider keys, and with nothing in it that
// would open an editor, a pager or a question.

export interface ChildEnvironment {
  /** Variables that hold a provider key, beside those known by their names. */
  readonly keyVariables: readonly string[];
  /** Keys in use, by value: a variable of any name that holds one is left out too. */
  readonly keys: readonly (string | undefined)[];
  /** Variables that children get although they hold a key. */
  readonly pass: readonly string[];
  readonly sessionId: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

const vendors =
  "AI21|AI_GATEWAY|ANTHROPIC|AZURE_OPENAI|BASETEN|CEREBRAS|CLAUDE|CLAUDE_CODE|COHERE|CO|DASHSCOPE|DEEPINFRA|DEEPSEEK|FIREWORKS|GEMINI|GOOGLE|GOOGLE_AI|GOOGLE_GENERATIVE_AI|GROK|GROQ|KIMI|LITELLM|MINIMAX|MISTRAL|MOONSHOT|NEBIUS|NVIDIA|OLLAMA|OPENAI|OPENROUTER|PERPLEXITY|QWEN|REPLICATE|SAMBANOVA|SILICONFLOW|TOGETHER|TOGETHERAI|VENICE|VOYAGE|XAI|ZAI|ZHIPU|ZHIPUAI";
/** `OPENAI_API_KEY`, `ANTHROPIC_AUTH_TOKEN`, `OPENAI_API_KEY_2`. */
const keyName = new RegExp(
  `^(?:(?:${vendors})_(?:(?:API|AUTH|OAUTH|ADMIN|ACCESS|SECRET|REFRESH)_)?(?:KEY|TOKEN)S?(?:_\\w+)?|(?:${vendors})APIKEY|AWS_BEARER_TOKEN_BEDROCK)$`,
  "i",
);

/** Whatever would wait for a person fails or passes by itself instead. */
const quiet = {
  GIT_TERMINAL_PROMPT: "0",
  GIT_EDITOR: "false",
  GIT_SEQUENCE_EDITOR: "false",
  EDITOR: "false",
  VISUAL: "false",
  PAGER: "cat",
  GIT_PAGER: "cat",
  MANPAGER: "cat",
  SYSTEMD_PAGER: "cat",
} as const;

/** A value as short as this says nothing of what it is. */
const leastKeyLength = 8;

/** Pure; `env` is the agent's own. */
export function childEnvironment(env: Environment, options: ChildEnvironment): Record<string, string> {
  const passed = new Set(options.pass);
  const named = new Set(options.keyVariables);
  const keys = new Set(options.keys.filter((key) => key !== undefined && key.length >= leastKeyLength));
  const isKey = (name: string, value: string) => named.has(name) || keyName.test(name) || keys.has(value);
  const kept = Object.entries(env).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined && (passed.has(entry[0]) || !isKey(entry[0], entry[1])),
  );
  return {
    ...Object.fromEntries(kept),
    ...quiet,
    PI_TS: "1",
    AI_AGENT: "pi-ts",
    PI_TS_SESSION_ID: options.sessionId,
  };
}
