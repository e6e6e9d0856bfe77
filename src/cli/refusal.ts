// A command line that is wrong, told where a program would look for the verdict: in the file of `--result`, and in JSON mode on stdout.
import type { Io } from "../modes/io.ts";
import { toVerdict } from "../modes/one-shot.ts";
import type { AppError } from "../util/error.ts";

export async function tellRefusal(argv: readonly string[], error: AppError, cwd: string, io: Io): Promise<void> {
  const path = lastValue("--result", argv);
  if (path !== undefined) {
    const { openResultFile } = await import("./result-file.ts");
    try {
      openResultFile(path, cwd).fail(error);
    } catch {
      // The flags are the first thing to put right.
    }
  }
  if (lastValue("--mode", argv) === "json") {
    const { tellUnbegun } = await import("./run-records.ts");
    await tellUnbegun(toVerdict(error), io);
  }
}

/** The last value of a flag, as far as the words alone tell. */
function lastValue(flag: string, argv: readonly string[]): string | undefined {
  const end = argv.indexOf("--");
  const words = end === -1 ? argv : argv.slice(0, end);
  const values = words.flatMap((word, i) => {
    if (word.startsWith(`${flag}=`)) return [word.slice(flag.length + 1)];
    const next = words[i + 1];
    return word === flag && next !== undefined && !next.startsWith("-") ? [next] : [];
  });
  return values.at(-1);
}
