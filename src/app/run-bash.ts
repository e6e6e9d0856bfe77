// A command that the user runs, not the model: no time limit, no gate, and its output is told as it comes.
import type { BashResult } from "../protocol/rpc.ts";
import { type Ending, fit, runShell, type ShellContext } from "../tools/bash.ts";
import { createSpill } from "../tools/bash-spill.ts";
import { createBoundedOutput } from "../tools/bounded-output.ts";
import { ToolError } from "../tools/tool.ts";
import { AppError } from "../util/error.ts";

export interface BashRun extends ShellContext {
  readonly command: string;
  /** The most characters of output that are kept; the whole of it is in a file then. */
  readonly maxOutput: number;
  /** Gets the output as the command wrote it, piece by piece; bytes that are no UTF-8 are U+FFFD. */
  readonly onOutput: (text: string) => void;
  /** A promise makes the command wait with further output until it resolves. */
  readonly hold?: (() => Promise<unknown> | undefined) | undefined;
}

/** Throws `AppError` when the command cannot be started. */
export async function runBash({ command, maxOutput, onOutput, hold, ...context }: BashRun): Promise<BashResult> {
  const spill = createSpill(maxOutput);
  const output = createBoundedOutput(maxOutput, spill);
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  const tell = (text: string) => {
    if (text !== "") onOutput(text);
  };
  const { ending } = await runShell(
    command,
    context,
    undefined,
    (bytes) => {
      output.write(bytes);
      tell(decoder.decode(bytes, { stream: true }));
    },
    hold,
  ).catch((error) => {
    throw error instanceof ToolError ? new AppError("usage", error.message, { cause: error }) : error;
  });
  tell(decoder.decode());
  output.end();
  const { text, truncated, fullOutputPath } = fit(output, spill, maxOutput);
  return {
    output: text,
    ...describeEnding(ending),
    truncated,
    ...(fullOutputPath === undefined ? {} : { fullOutputPath }),
  };
}

function describeEnding(ending: Ending): Pick<BashResult, "exitCode" | "cancelled"> {
  return typeof ending === "string" ? { cancelled: true } : { exitCode: ending.code, cancelled: false };
}
