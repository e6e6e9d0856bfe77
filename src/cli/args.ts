// The flags of the root command, as citty describes them; help, checks and completions all come from here.
import { thinkingLevels } from "../protocol/thinking-level.ts";
import type { FlagsDef } from "./parse-args.ts";

export const modes = ["text", "json", "rpc"] as const;
export const approvals = ["confirm", "select"] as const;

/** Flags of pi's own that have no meaning here: a client that passes them is told so once. */
export const foreignArgs = {
  extension: {
    group: "Flags of pi's own",
    type: "string",
    alias: "e",
    repeatable: true,
    valueHint: "path",
    description: "For pi only: ignored",
  },
  "no-extensions": { type: "boolean", alias: "ne", description: "For pi only: ignored" },
  theme: { type: "string", repeatable: true, valueHint: "path", description: "For pi only: ignored" },
  "no-themes": { type: "boolean", description: "For pi only: ignored" },
  "use-theme": { type: "string", valueHint: "name", description: "For pi only: ignored" },
  "tui-mode": { type: "string", valueHint: "mode", description: "For pi only: ignored" },
} as const satisfies FlagsDef;

export const rootMeta = {
  name: "pi-ts",
  description: "A coding agent: reads, edits and writes files, runs commands, asks before what could hurt",
};

export const rootArgs = {
  task: {
    type: "positional",
    required: false,
    complete: "files",
    description: "The task; `-` reads it from stdin, `@file` sends a file along",
  },
  print: { group: "Modes", type: "boolean", alias: "p", description: "One-shot: print the answer and exit" },
  mode: {
    type: "string",
    valueHint: "mode",
    complete: modes,
    description: "text (as --print), json (every event of one task as a line of JSON) or rpc (commands on stdin)",
  },
  approval: {
    type: "string",
    valueHint: "kind",
    complete: approvals,
    description: "How --mode rpc asks: confirm (yes or no; the default) or select (also yes for the session)",
  },
  "approval-timeout": {
    type: "string",
    valueHint: "seconds",
    description: "With --mode rpc: a question without an answer after this time is a no",
  },
  provider: {
    group: "Model",
    type: "string",
    alias: "P",
    valueHint: "name",
    complete: "providers",
    description: "anthropic (default), openai, gemini, deepseek, kimi, or one from config.toml",
  },
  model: {
    type: "string",
    alias: "m",
    valueHint: "id",
    complete: "models",
    description: "Model id or a part of one, also as provider/model and with :level for its thinking",
  },
  models: {
    type: "string",
    valueHint: "patterns",
    complete: "models",
    description: "Models to begin with and to change between, with commas between them; * stands for any characters",
  },
  "list-models": {
    type: "string",
    valueless: () => true,
    valueHint: "search",
    description: "List the models, as `pi-ts models` does",
  },
  "base-url": { type: "string", valueHint: "url", description: "Base URL of the provider's API" },
  "api-key": { type: "string", valueHint: "key", description: "API key; better in the provider's variable" },
  thinking: {
    type: "string",
    valueHint: "level",
    complete: thinkingLevels,
    description: "off, minimal, low, medium, high, xhigh or max; the model's own way if not given",
  },
  fallback: {
    type: "string",
    valueHint: "models",
    complete: "fallbacks",
    description: "Models (provider/model, with commas between) that take over when one is overloaded or out of reach",
  },
  "max-tokens": {
    group: "Limits",
    type: "string",
    valueHint: "n",
    description: "Most tokens an answer may have (8192)",
  },
  "max-turns": { type: "string", valueHint: "n", description: "Most turns of one prompt (100)" },
  "max-tool-calls": { type: "string", valueHint: "n", description: "Most tool calls of one prompt" },
  timeout: {
    type: "string",
    valueHint: "time",
    description: "Longest time of one prompt, or of a one-shot run from its start on: 90, 90s, 10m, 1h",
  },
  "max-cost": { type: "string", valueHint: "dollars", description: "Most US dollars that one prompt may cost" },
  "max-tool-output": { type: "string", valueHint: "chars", description: "Most characters of a tool's result (100000)" },
  "max-retries": {
    type: "string",
    valueHint: "n",
    description: "How often a request that failed for a passing reason is sent again (3)",
  },
  record: {
    group: "Recordings",
    type: "string",
    valueHint: "file",
    description: "Write the provider's traffic to a new file, without keys",
  },
  replay: { type: "string", valueHint: "file", description: "Answer from a recording: no network, no key" },
  continue: {
    group: "Sessions",
    type: "boolean",
    alias: "c",
    description: "Go on in the latest session of this directory",
  },
  resume: {
    type: "string",
    alias: "r",
    valueless: () => true,
    valueHint: "id|name|path",
    complete: "sessions",
    description: "Go on in this session; the beginning of its id or name is enough, none at all shows a list",
  },
  session: {
    type: "string",
    valueHint: "path|id",
    complete: "sessions",
    description: "The same as --resume with a value",
  },
  fork: {
    type: "string",
    // A text with blanks is a task, and so is any word where another flag names the session.
    valueless: (word: string, isGiven: (name: string) => boolean) =>
      !/\s/.test(word) && !["continue", "resume", "session"].some(isGiven),
    valueHint: "id|path",
    complete: "sessions",
    description: "Go on in a copy of this session, or of the one that --continue or --resume names",
  },
  "session-id": {
    type: "string",
    valueHint: "id",
    complete: "sessions",
    description: "The id of the new session, or of one of this directory to go on in",
  },
  name: { type: "string", alias: "n", valueHint: "name", description: "The name of the session" },
  "no-session": { type: "boolean", description: "Do not store the conversation" },
  "session-dir": { type: "string", valueHint: "folder", description: "Folder of the sessions (~/.pi-ts/sessions)" },
  export: {
    type: "string",
    valueHint: "session",
    complete: "sessions",
    description: "Write this session as a page; the page's file may follow",
  },
  sessions: { type: "boolean", description: "List the sessions, as `pi-ts sessions list` does" },
  result: {
    group: "Results",
    type: "string",
    valueHint: "file",
    description: "Write the verdict of a one-shot run there, as JSON",
  },
  "output-schema": {
    type: "string",
    valueHint: "file|json",
    description: "The answer must be JSON that is valid against this JSON Schema (draft 2020-12)",
  },
  "fail-on-denied": { type: "boolean", description: "Exit with 1 when a tool call was denied" },
  yolo: {
    group: "Tools and permissions",
    type: "boolean",
    description: "Run commands and touch any file without asking",
  },
  "read-only": { type: "boolean", description: "Offer only read, grep, find and ls" },
  tools: {
    type: "string",
    alias: "t",
    valueHint: "names",
    complete: "tools",
    description: "Offer only these tools; names with commas between them",
  },
  "exclude-tools": {
    type: "string",
    alias: "xt",
    valueHint: "names",
    complete: "tools",
    description: "Offer all tools but these",
  },
  "no-tools": { type: "boolean", alias: "nt", description: "Offer no tools, or only those that --tools names" },
  "no-builtin-tools": { type: "boolean", alias: "nbt", description: "Offer no tools but those of MCP servers" },
  "mcp-config": {
    type: "string",
    repeatable: true,
    valueHint: "file",
    description: "Use the MCP servers of this file too, in the form of .mcp.json; may be repeated",
  },
  "no-mcp": { type: "boolean", description: "Use no MCP servers" },
  allow: {
    type: "string",
    repeatable: true,
    valueHint: "rule",
    description: "Allow without asking, such as 'bash(npm test)' or 'write(src/**)'; may be repeated",
  },
  deny: { type: "string", repeatable: true, valueHint: "rule", description: "Never allow; may be repeated" },
  sandbox: { type: "boolean", description: "Run commands in a sandbox: bubblewrap, or sandbox-exec on macOS" },
  "sandbox-net": { type: "boolean", description: "With --sandbox: let commands reach the network" },
  "trust-project": {
    group: "Project and prompt",
    type: "boolean",
    description: "Let the project's .pi-ts folder and .mcp.json count in this run",
  },
  approve: {
    type: "boolean",
    alias: "a",
    negativeAlias: "na",
    description: "The same; --no-approve (-na): it does not count, and nobody is asked",
  },
  "system-prompt": {
    type: "string",
    valueHint: "text|file",
    description: "Say this in the place of our own system prompt",
  },
  "append-system-prompt": {
    type: "string",
    repeatable: true,
    valueHint: "text|file",
    description: "Say this behind the system prompt; may be repeated",
  },
  skill: {
    type: "string",
    repeatable: true,
    valueHint: "path",
    description: "Offer the skill in this file or folder; may be repeated",
  },
  "no-skills": { type: "boolean", alias: "ns", description: "Offer no skills but those of --skill" },
  "prompt-template": {
    type: "string",
    repeatable: true,
    valueHint: "path",
    description: "Offer the prompt template in this file or folder; may be repeated",
  },
  "no-prompt-templates": {
    type: "boolean",
    alias: "np",
    description: "Offer no prompt templates but those of --prompt-template",
  },
  "context-files": {
    type: "boolean",
    default: true,
    negativeAlias: "nc",
    description: "Read AGENTS.md files",
    negativeDescription: "Do not read AGENTS.md files; --context-files: do, whatever config.toml says",
  },
  "auto-compact": {
    type: "boolean",
    default: true,
    description: "Compact a conversation that no longer fits the model's context",
    negativeDescription:
      "Do not compact a conversation that no longer fits the model's context; --auto-compact: do, whatever config.toml says",
  },
  "print-system-prompt": { type: "boolean", description: "Print the system prompt and exit" },
  quiet: { group: "Notices and the network", type: "boolean", description: "No tool activity and notices on stderr" },
  verbose: { type: "boolean", description: "Notices on stderr even where config.toml says quiet" },
  markdown: {
    type: "boolean",
    default: true,
    description: "Show the Markdown of answers as what it means",
    negativeDescription:
      "In a conversation, show answers as they were written; --markdown: show what their Markdown means, whatever config.toml says",
  },
  offline: { type: "boolean", description: "Changes nothing: only models and MCP servers are asked anyway" },
  ...foreignArgs,
  version: { group: "Help", type: "boolean", alias: "v", description: "Print the version and exit" },
  help: { type: "boolean", alias: "h", description: "Print this help and exit" },
} as const satisfies FlagsDef;
