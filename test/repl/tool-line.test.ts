import { expect, test } from "bun:test";
import { formatToolCall } from "../../src/modes/repl/tool-line.ts";
import { createStyle } from "../../src/modes/style.ts";

const plain = createStyle(false);

function format(toolName: string, args: Record<string, unknown>, text: string, isError: boolean, columns = 60): string {
  const result = { content: [{ type: "text" as const, text }] };
  return formatToolCall({ toolName, args, result, isError, durationMs: 1234, wasAsked: false }, columns, plain);
}

/** A command that failed. */
function formatBash(
  command: string,
  output: string,
  exit: { exit_code: number; signal?: string },
  columns = 60,
): string {
  const content = [{ type: "text" as const, text: `${output}[exit code ${exit.exit_code}]` }];
  const result = { content, structuredContent: { output, truncated: false, ...exit } };
  return formatToolCall(
    { toolName: "bash", args: { command }, result, isError: true, durationMs: 1234, wasAsked: false },
    columns,
    plain,
  );
}

test.each([
  ["success", format("read", { path: "a.ts" }, "1 x", false), "✓ read a.ts  1.2 s\n"],
  [
    "exit code and the last lines",
    formatBash("npm test", "1\n2\n3\n\n4\n5\n6\n", { exit_code: 1 }),
    "✗ bash npm test  exit code 1  1.2 s\n    2\n    3\n    4\n    5\n    6\n",
  ],
  [
    "a death by signal",
    formatBash("x", "", { exit_code: 137, signal: "SIGKILL" }),
    "✗ bash x  exit code 137 (SIGKILL)  1.2 s\n",
  ],
  [
    "a time limit and the last lines",
    format("bash", { command: "x" }, "Error: timed out after 5 ms; the process group was killed\n1\n2\n", true),
    "✗ bash x  failed  1.2 s\n    timed out after 5 ms; the process group was killed\n    1\n    2\n",
  ],
  ["a short message", format("read", { path: "b" }, "Error: no such file", true), "✗ read b  no such file  1.2 s\n"],
  [
    "a long message",
    format("edit", { path: "b" }, `Error: ${"long ".repeat(9)}\nmore`, true),
    `✗ edit b  failed  1.2 s\n    ${"long ".repeat(9)}\n    more\n`,
  ],
  [
    "what an edit has changed",
    format("edit", { path: "b", old_string: "a\nb\n", new_string: "a\n\tc\nd\x1b[31m\n" }, "Edited b", false),
    "✓ edit b  1.2 s\n    -b\n    +    c\n    +d␛[31m\n",
  ],
  [
    "what several edits have changed",
    format(
      "edit",
      { path: "b", edits: ["one", "two"].map((word) => ({ old_string: `{\n${word}\n}`, new_string: "{\n}" })) },
      "Edited b",
      false,
    ),
    "✓ edit b  1.2 s\n    -one\n    -two\n",
  ],
  [
    "nothing of an edit that failed",
    format("edit", { path: "b", old_string: "x", new_string: "y" }, "Error: not there", true),
    "✗ edit b  not there  1.2 s\n",
  ],
  [
    "escape sequences and progress bars",
    formatBash("x", "10%\r20%\r\n\x1b[31mred\x1b[0m\x07\n", { exit_code: 2 }),
    "✗ bash x  exit code 2  1.2 s\n    20%\n    red␇\n",
  ],
  [
    "all of it within the width",
    formatBash("echo 漢字漢字漢字漢字漢字漢字", "0123456789012345678901234567890", { exit_code: 1 }, 30),
    "✗ bash ec…  exit code 1  1.2 s\n    012345678901234567890123…\n",
  ],
])("%s", (_name, got, expected) => {
  expect(got).toBe(expected);
});

test("what a person saw before is not shown again", () => {
  const args = { path: "b", old_string: "x", new_string: "y" };
  const call = { toolName: "edit", args, result: { content: [] }, isError: false, durationMs: 1234, wasAsked: true };
  expect(formatToolCall(call, 60, plain)).toBe("✓ edit b  1.2 s\n");
});
