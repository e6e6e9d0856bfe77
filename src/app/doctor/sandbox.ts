// Whether commands can be run in a sandbox here: it is tried.
import { createSandbox } from "../../permission/sandbox.ts";
import { toAppError } from "../../util/error.ts";
import { type Check, fromError } from "./check.ts";

export const sandboxCheck: Check = {
  name: "sandbox",
  blocks: true,
  run({ cwd, env, home, config, flags }) {
    const wanted = config?.permissions.sandbox ?? flags.sandbox ?? false;
    const network = config?.permissions.sandboxNet ?? false;
    const program = process.platform === "darwin" ? "sandbox-exec" : "bubblewrap";
    const facts = { wanted, program };
    try {
      createSandbox({ cwd, ownFolder: home, network, env });
      const use = wanted ? `commands run in it, ${network ? "with" : "without"} the network` : "--sandbox uses it";
      return { verdict: "ok", text: `${program} works; ${use}`, facts: { ...facts, works: true } };
    } catch (thrown) {
      const error = toAppError(thrown);
      const finding = fromError(error, wanted ? "failure" : "warning");
      return {
        ...finding,
        text: error.message.replace(/^--sandbox: /, ""),
        facts: { ...facts, works: false, code: error.code },
      };
    }
  },
};
