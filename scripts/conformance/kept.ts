// Where the program differs from the recordings on purpose, and why. A row that no difference needs any more is told as stale.
import type { Difference } from "./compare.ts";

export interface KeptDifference {
  /** The beginning of the scenario's name; every scenario if not given. */
  readonly scenario?: string;
  readonly record: string | RegExp;
  /** The key's path; `undefined` for a record that one side has alone. */
  readonly key: RegExp | undefined;
  /** Only for what is more than was recorded. */
  readonly extra?: true;
  readonly reason: string;
}

const failedPrompt =
  "A prompt that got no answer leaves the conversation, so that asking again does not send it twice; get_entries has it";
const streamOrder = "A block is told to have ended before the next one begins, not when the whole answer has";
const endOfInput = "When stdin ends, the running prompt is finished and told";
const noCommand =
  "What is no command is answered as a line that could not be parsed, so that every answer names a command";

export const kept: readonly KeptDifference[] = [
  {
    record: /./,
    key: /\.toolsAdded\[\]\.constrainedSampling$/,
    reason: "A wish to the provider that can be left out, and that none of our tools has",
  },
  {
    scenario: "01",
    record: "response(get_commands)",
    key: /^data\.commands\[\]$/,
    reason: "The other program has two built-in commands; ours lists prompt templates and skills, and the run has none",
  },
  {
    scenario: "07",
    record: "response(switch_session)",
    key: /^(data|error)$/,
    reason: "A session file that is not there is an error, not a new session",
  },
  {
    scenario: "08",
    record: /^response(\(parse\))?$/,
    key: undefined,
    reason: `${noCommand}; blank lines are passed over`,
  },
  {
    scenario: "08",
    record: "response(set_thinking_level)",
    key: /^error$/,
    reason: "A thinking level that does not exist is refused",
  },
  {
    scenario: "10",
    record: "tool_execution_end",
    key: /^result\.structuredContent$/,
    reason: "A command that was stopped tells its output and end to programs, as others do",
  },
  {
    scenario: "11",
    record: "response(get_messages)",
    key: /^data\.messages\[user\]$/,
    reason: "The last prompt stays where it was said; the other program was set to cut its turn in two",
  },
  {
    scenario: "12",
    record: "response(get_messages)",
    key: /^data\.messages\[(user|assistant)\]$/,
    reason: failedPrompt,
  },
  {
    scenario: "12",
    record: "agent_settled",
    key: /^error$/,
    reason: "The last record of a prompt tells why it did not end well",
  },
  { scenario: "14", record: /./, key: undefined, extra: true, reason: endOfInput },
  { scenario: "16", record: "message_update(thinking_end)", key: undefined, reason: streamOrder },
];

export function keptFor(scenario: string, { record, key, expected }: Difference): KeptDifference | undefined {
  return kept.find((row) => {
    const isRecord = typeof row.record === "string" ? row.record === record : row.record.test(record);
    const isKey = row.key === undefined ? key === undefined : key !== undefined && row.key.test(key);
    const isSide = !row.extra || expected === "absent";
    return scenario.startsWith(row.scenario ?? "") && isRecord && isKey && isSide;
  });
}
