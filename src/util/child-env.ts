// The environment of the programs that the agent starts, commands and servers alike: without provider keys, and with nothing in it that
// would open an editor, a pager or a question.
import type { Environment } from "./environment.ts";
import { lazy } from "./lazy.ts";

export interface ChildEnvironment {
  /** Variables that hold a provider key, beside those known by their names. */
  readonly keyVariables: readonly string[];
  /** Keys in use, by value: a variable of any name that holds one is left out too. */
  readonly keys: readonly (string | undefined)[];
  /** Variables that children get although they hold a key. */
  readonly pass: readonly string[];
  /** Undefined for a child that serves more than one session. */
  readonly sessionId: string | undefined;
}

const vendors =
  "AI21|AIHUBMIX|AI_GATEWAY|ALEPH_ALPHA|ALIBABA|AMP|ANTHROPIC|ANYSCALE|ARCEE|ARK|AZURE|AZURE_AI|AZURE_INFERENCE|AZURE_OPENAI|BAICHUAN|BAIDU|BAILIAN|" +
  "BASETEN|BEDROCK|BIGMODEL|CEREBRAS|CHUTES|CLARIFAI|CLAUDE|CLAUDE_CODE|CO|CODESTRAL|COHERE|COPILOT|CURSOR|DASHSCOPE|DATABRICKS|DEEPGRAM|DEEPINFRA|" +
  "DEEPSEEK|DOUBAO|ELEVENLABS|FAL|FEATHERLESS|FIREWORKS|FIREWORKS_AI|FRIENDLI|GEMINI|GIGACHAT|GITHUB_COPILOT|GITHUB_MODELS|GLM|GMI|GOOGLE|GOOGLE_AI|" +
  "GOOGLE_GENAI|GOOGLE_GENERATIVE_AI|GOOGLE_VERTEX|GRADIENT|GROK|GROQ|HELICONE|HF|HUGGING_?FACE|HUGGING_?FACE_?HUB|HUNYUAN|HYPERBOLIC|INCEPTION|INFERENCE|" +
  "JINA|KILO|KIMI|KLUSTER|LAMBDA|LEPTON|LINGYI|LITELLM|LLAMA|LLAMA_API|LLAMA_CLOUD|LLM|LLMGATEWAY|LM_?STUDIO|MIMO|MINIMAX|MISTRAL|MODELSCOPE|MOONSHOT|MORPH|" +
  "NEBIUS|NOMIC|NOVITA|NSCALE|NVIDIA|NVIDIA_NIM|OCTOAI|OLLAMA|OPENAI|OPENCODE|OPENROUTER|OPEN_ROUTER|PERPLEXITY|PERPLEXITYAI|POE|PORTKEY|PPLX|PREDIBASE|" +
  "QIANFAN|QWEN|REKA|REPLICATE|REQUESTY|RUNPOD|SAMBANOVA|SENSENOVA|SILICONFLOW|SPARK|STABILITY|STEP|STEPFUN|SYNTHETIC|TENCENT|TOGETHER|TOGETHERAI|" +
  "TOGETHER_AI|UPSTAGE|VENICE|VERCEL_AI_GATEWAY|VERTEX|VERTEXAI|VLLM|VOLCENGINE|VOYAGE|VOYAGEAI|WATSONX|WRITER|XAI|XIAOMI|XINFERENCE|YI|ZAI|Z_AI|ZHIPU|ZHIPUAI";
/** Takes a millisecond to make. `OPENAI_API_KEY`, `ANTHROPIC_AUTH_TOKEN`, `OPENAI_API_KEY_2`, `OPENAI_API_KEY2`. */
const keyName = lazy(
  () =>
    new RegExp(
      `^(?:(?:${vendors})_(?:(?:API|AUTH|OAUTH|ADMIN|ACCESS|SECRET|REFRESH|GITHUB)_)?(?:KEY|TOKEN)S?(?:\\d+|_\\w+)?|(?:${vendors})_?APIKEY\\d*|AWS_BEARER_TOKEN_BEDROCK)$`,
      "i",
    ),
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
  const isKeyName = (name: string) => named.has(name) || (/key|token/i.test(name) && keyName().test(name));
  const isKey = (name: string, value: string) => isKeyName(name) || keys.has(value);
  const kept = Object.entries(env).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined && (passed.has(entry[0]) || !isKey(entry[0], entry[1])),
  );
  return {
    ...Object.fromEntries(kept),
    ...quiet,
    PI_TS: "1",
    AI_AGENT: "pi-ts",
    ...(options.sessionId === undefined ? {} : { PI_TS_SESSION_ID: options.sessionId }),
  };
}
