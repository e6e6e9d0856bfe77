import { describe, expect, test } from "bun:test";
import { childEnvironment } from "../../src/util/child-env.ts";

const none = { keyVariables: [], keys: [], pass: [], sessionId: "id" };

function names(env: Record<string, string>, options: Partial<Parameters<typeof childEnvironment>[1]> = {}): string[] {
  const own = Object.keys(childEnvironment({}, none));
  return Object.keys(childEnvironment(env, { ...none, ...options })).filter((name) => !own.includes(name));
}

describe("the environment of children", () => {
  test.each([
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "OPENAI_API_KEY",
    "OPENAI_API_KEY_2",
    "OPENAI_API_KEY2",
    "OPENAI_API_KEY_1",
    "OPENAI_ADMIN_KEY",
    "HF_TOKEN",
    "HUGGINGFACE_API_KEY",
    "HUGGINGFACEHUB_API_TOKEN",
    "HUGGING_FACE_HUB_TOKEN",
    "TOGETHER_AI_API_KEY",
    "FIREWORKS_API_KEY",
    "REPLICATE_API_TOKEN",
    "DASHSCOPE_API_KEY",
    "ARK_API_KEY",
    "NVIDIA_NIM_API_KEY",
    "WATSONX_APIKEY",
    "COPILOT_GITHUB_TOKEN",
    "VERCEL_AI_GATEWAY_API_KEY",
    "LLM_API_KEY",
    "AZURE_OPENAI_API_KEY",
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "GOOGLE_GENERATIVE_AI_API_KEY",
    "DEEPSEEK_API_KEY",
    "MOONSHOT_API_KEY",
    "OPENROUTER_API_KEY",
    "XAI_API_KEY",
    "GROQ_API_KEY",
    "MISTRAL_API_KEY",
    "CO_API_KEY",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "AWS_BEARER_TOKEN_BEDROCK",
    "openai_api_key",
  ])("has no %s", (name) => {
    expect(names({ [name]: "secret" })).toEqual([]);
  });

  test.each([
    "PATH",
    "GITHUB_TOKEN",
    "NPM_TOKEN",
    "CLOUDFLARE_API_TOKEN",
    "AWS_ACCESS_KEY_ID",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "LAMBDA_TASK_ROOT",
    "AZURE_CLIENT_ID",
    "OPENAI_BASE_URL",
    "ANTHROPIC_MODEL",
    "MY_OPENAI_API_KEYS_FILE",
    "KEY",
  ])("has %s", (name) => {
    expect(names({ [name]: "value" })).toEqual([name]);
  });

  test("has no variable that the configuration uses as a key, nor a copy of a key under another name", () => {
    const env = { CORP: "1", COPY: "sk-0123456789", SHORT: "abc", OTHER: "x" };
    expect(names(env, { keyVariables: ["CORP"], keys: ["sk-0123456789", "abc", undefined] })).toEqual([
      "SHORT",
      "OTHER",
    ]);
  });

  test("has what is passed by name", () => {
    const env = { OPENAI_API_KEY: "a", GEMINI_API_KEY: "b", CORP: "c" };
    expect(names(env, { keyVariables: ["CORP"], pass: ["OPENAI_API_KEY", "CORP"] })).toEqual([
      "OPENAI_API_KEY",
      "CORP",
    ]);
  });

  test("names the agent and the session, and opens no editor, pager or question", () => {
    expect(childEnvironment({ PAGER: "less", EDITOR: "vim", A: undefined, B: "1" }, none)).toEqual({
      B: "1",
      GIT_TERMINAL_PROMPT: "0",
      GIT_EDITOR: "false",
      GIT_SEQUENCE_EDITOR: "false",
      EDITOR: "false",
      VISUAL: "false",
      PAGER: "cat",
      GIT_PAGER: "cat",
      MANPAGER: "cat",
      SYSTEMD_PAGER: "cat",
      PI_TS: "1",
      AI_AGENT: "pi-ts",
      PI_TS_SESSION_ID: "id",
    });
  });
});
