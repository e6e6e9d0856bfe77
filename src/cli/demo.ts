// `pi-ts demo`: the real loop and the real tools on a small project, with a recording in the model's place.
import { rmSync } from "node:fs";
import { createDemoApp, createDemoProject, runDemoTest, task } from "../app/demo.ts";
import { runPrint } from "../modes/print.ts";
import { AppError } from "../util/error.ts";
import { log } from "../util/log.ts";
import { defineCommand } from "./command.ts";

export const demo = defineCommand({
  meta: { name: "demo", description: "Mend a failing test in a temporary project; needs no key and no network" },
  args: {
    keep: { type: "boolean", description: "Keep the project's folder" },
    quiet: { type: "boolean", description: "No tool activity and notices on stderr" },
    help: { type: "boolean", alias: "h", description: "Print this help and exit" },
  },
  async run(args, { io, env, words }) {
    if (words.length > 0) throw new AppError("usage", `pi-ts demo takes no task (${words.join(" ")})`);
    const quiet = args.quiet ?? false;
    const note = (text: string) => quiet || io.stderr(`${text}\n`);
    const cwd = createDemoProject();
    try {
      note("The model in this demo is a recording; the loop, the tools and the files are real.");
      note(`Project: ${cwd}\nTask: ${task}`);
      const app = await createDemoApp(cwd, env, { quiet, paced: io.isTerminal(1) }, (error) =>
        log().error(String(error)),
      );
      const code = await runPrint(app, { task: { text: task } }, io);
      if (code !== 0) return code;
      const { passed, output } = runDemoTest(cwd);
      if (passed) note(`Checked: bash test.sh prints "${output}" and exits 0.`);
      else log().error(`The test still fails: ${output}`);
      return passed ? 0 : 1;
    } finally {
      if (args.keep) note(`Kept: ${cwd}`);
      else rmSync(cwd, { recursive: true, force: true });
    }
  },
});
