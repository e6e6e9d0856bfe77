// Given to Bun with `--preload`: at the program's end, writes the paths of all modules that it has loaded into the file that TELL_MODULES names.
import { writeFileSync } from "node:fs";

process.on("exit", () => writeFileSync(process.env.TELL_MODULES ?? "", Object.keys(require.cache).join("\n")));
