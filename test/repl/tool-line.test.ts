import { expect, test } from "bun:test";
import { createStyle } from "../../src/modes/repl/style.ts";
import { formatToolCall } from "../../src/modes/repl/tool-line.ts";

const plain = createStyle(false);

function format(toolName: string, args: Record<string, unknown>, text: string, isError: boolean, columns = 60): string {
  const result = { content: [{ type: "text" as const, text }] };
  return formatToolCall({ toolName, args, result, isError, durationMs: 1234 }, columns, plain);
}

test.each([
  ["success", format("read", { path: "a.ts" }, "1 x", false), "✓ read a.ts  1.2 s\n"],
  [
    "exit code and the last lines",
    format("bash", { command: "npm test" }, "exit code: 1\n1\n2\n3\n\n4\n5\n6\n", true),
    "✗ bash npm test  exit code 1  1.2 s\n    2\n    3\n    4\n    5\n    6\n",
  ],
  ["a short message", format("read", { path: "b" }, "Error: no such file", true), "✗ read b  no such file  1.2 s\n"],
  [
    "a long message",
    format("edit", { path: "b" }, `Error: ${"long ".repeat(9)}\nmore`, true),
    `✗ edit b  failed  1.2 s\n    ${"long ".repeat(9)}\n    more\n`,
  ],
  [
    "escape sequences and progress bars",
    format("bash", { command: "x" }, "exit code: 2\n10%\r20%\r\n\x1b[31mred\x1b[0m\x07\n", true),
    "✗ bash x  exit code 2  1.2 s\n    20%\n    red␇\n",
  ],
  [
    "all of it within the width",
    format(
      "bash",
      { command: "echo 漢字漢字漢字漢字漢字漢字" },
      "exit code: 1\n0123456789012345678901234567890",
      true,
      30,
    ),
    "✗ bash ec…  exit code 1  1.2 s\n    012345678901234567890123…\n",
  ],
])("%s", (_name, got, expected) => {
  expect(got).toBe(expected);
});
