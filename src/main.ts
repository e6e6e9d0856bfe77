// argv in, exit code out: the one place that ends the process.
import { stdoutFailure, writeStdout } from "./util/stdout.ts";
import { version } from "./util/version.ts";

const argv = process.argv.slice(2);

/** The program is built to begin with the JIT held back; what still runs after so long has work to do. */
const startMs = 250;

/** Prints what needs none of the code that runs anything. */
async function print(text: string): Promise<void> {
  await writeStdout(text);
  if (stdoutFailure() !== undefined) process.exit((await import("./cli/main.ts")).checkOutput(0));
}

if (argv.length === 1 && argv[0] === "--version") {
  await print(`pi-ts ${version}\n`);
} else if (argv.length === 1 && (argv[0] === "--help" || argv[0] === "-h")) {
  await print((await import("./cli/built-help.ts")).helpText);
} else {
  const { main } = await import("./cli/main.ts");
  setTimeout(() => Bun.unsafe.setJITPolicy(1), startMs).unref();
  process.exit(await main(argv, (code) => process.exit(code)));
}
