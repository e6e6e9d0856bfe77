// argv in, exit code out: the one place that ends the process.
import { writeStdout } from "./util/stdout.ts";
import { version } from "./util/version.ts";

const argv = process.argv.slice(2);

if (argv.length === 1 && argv[0] === "--version") {
  await writeStdout(`pi-ts ${version}\n`);
} else if (argv.length === 1 && (argv[0] === "--help" || argv[0] === "-h")) {
  // Without the code that runs anything.
  const [{ renderHelp }, { rootArgs, rootMeta }] = await Promise.all([
    import("./cli/help.ts"),
    import("./cli/args.ts"),
  ]);
  await writeStdout(renderHelp({ meta: rootMeta, args: rootArgs }, false));
} else {
  const { main } = await import("./cli/main.ts");
  process.exit(await main(argv, (code) => process.exit(code)));
}
