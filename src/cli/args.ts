// The flags of the root command, as citty describes them; help, checks and completions all come from here.
import type { ArgsDef } from "citty";

export const rootArgs = {
  task: { type: "positional", required: false, description: "The task; `-` reads it from stdin" },
  print: { type: "boolean", alias: "p", description: "One-shot: print the answer and exit" },
  provider: {
    type: "string",
    alias: "P",
    valueHint: "name",
    description: "anthropic (default), openai, gemini, deepseek, kimi, or one from config.toml",
  },
  model: { type: "string", alias: "m", valueHint: "id", description: "Model id, also as provider/model" },
  "base-url": { type: "string", valueHint: "url", description: "Base URL of the provider's API" },
  "api-key": { type: "string", valueHint: "key", description: "API key; better in the provider's variable" },
  "max-tokens": { type: "string", valueHint: "n", description: "Most tokens an answer may have (8192)" },
  "max-turns": { type: "string", valueHint: "n", description: "Most turns of one prompt (100)" },
  "max-tool-output": { type: "string", valueHint: "chars", description: "Most characters of a tool's result (100000)" },
  "max-retries": {
    type: "string",
    valueHint: "n",
    description: "How often a request that failed for a passing reason is sent again (3)",
  },
  thinking: {
    type: "string",
    valueHint: "level",
    description: "off, minimal, low, medium, high, xhigh or max; the model's own way if not given",
  },
  record: {
    type: "string",
    valueHint: "file",
    description: "Write the provider's traffic to a new file, without keys",
  },
  replay: { type: "string", valueHint: "file", description: "Answer from a recording: no network, no key" },
  yolo: { type: "boolean", description: "Run commands and touch any file without asking" },
  "context-files": {
    type: "boolean",
    default: true,
    description: "Read AGENTS.md files",
    negativeDescription: "Do not read AGENTS.md files",
  },
  "print-system-prompt": { type: "boolean", description: "Print the system prompt and exit" },
  quiet: { type: "boolean", description: "No tool activity and notices on stderr" },
  version: { type: "boolean", description: "Print the version and exit" },
  help: { type: "boolean", alias: "h", description: "Print this help and exit" },
} as const satisfies ArgsDef;
