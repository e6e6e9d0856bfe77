// Runs the official MCP conformance suite's client scenarios against the compiled program, and prints the result of every check.
// Exit code 1 when one fails. `bun scripts/mcp-conformance.ts [SCENARIO]`.
import { join } from "node:path";
import { buildBinary } from "./build.ts";

const root = join(import.meta.dir, "..");
const suite = join(root, "node_modules/@modelcontextprotocol/conformance/dist/index.js");

/**
 * Those for what the program does. The suite's others are about OAuth (`auth/*`) and about questions of servers to the person
 * (`elicitation-*`), neither of which it offers to servers.
 */
export const scenarios = ["initialize", "tools_call", "sse-retry"] as const;

/** As the suite writes it. */
interface Check {
  readonly id: string;
  readonly description: string;
  /** `INFO` only tells what happened. */
  readonly status: "SUCCESS" | "FAILURE" | "WARNING" | "INFO";
  readonly errorMessage?: string;
}

export interface ScenarioOutcome {
  readonly scenario: string;
  readonly checks: readonly Check[];
  /** What the suite and the program said, when the suite did not end well. */
  readonly complaint?: string;
}

/** Runs one scenario; the suite starts a server and runs the program with its address. Throws when the suite gives no result. */
export async function runScenario(scenario: string, binary: string): Promise<ScenarioOutcome> {
  // The suite gives the command to a shell in pieces cut at spaces, so the paths go by the environment.
  const command = '"$PI_TS_SUITE_BUN" "$PI_TS_SUITE_CLIENT"';
  const child = Bun.spawn(
    [process.execPath, suite, "client", "--verbose", "--scenario", scenario, "--command", command],
    {
      cwd: root,
      env: {
        ...process.env,
        PI_TS_SUITE_BUN: process.execPath,
        PI_TS_SUITE_CLIENT: join(import.meta.dir, "conformance/mcp-client.ts"),
        PI_TS_BINARY: binary,
      },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
      timeout: 60_000,
    },
  );
  const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  let checks: Check[];
  try {
    checks = JSON.parse(stdout);
  } catch {
    throw new Error(`the suite gave no result for ${scenario}:\n${stdout}${stderr}`);
  }
  return { scenario, checks, ...(code === 0 ? {} : { complaint: stderr }) };
}

export function isGood({ checks, complaint }: ScenarioOutcome): boolean {
  return complaint === undefined && checks.some(({ status }) => status === "SUCCESS");
}

/** A line for each scenario and for each of its checks. */
export function formatOutcome(outcome: ScenarioOutcome): string {
  const judged = outcome.checks.filter(({ status }) => status !== "INFO");
  const passed = judged.filter(({ status }) => status === "SUCCESS").length;
  const lines = judged.map(
    ({ status, id, description, errorMessage }) =>
      `  ${status.padEnd(7)}  ${id}: ${description}${errorMessage === undefined ? "" : ` (${errorMessage})`}`,
  );
  const head = `${outcome.scenario.padEnd(12)} ${passed} of ${judged.length} checks passed`;
  return [head, ...lines, ...(outcome.complaint === undefined ? [] : [outcome.complaint])].join("\n");
}

if (import.meta.main) {
  const only = process.argv[2];
  const binary = await buildBinary();
  let isWell = true;
  for (const scenario of only === undefined ? scenarios : [only]) {
    const outcome = await runScenario(scenario, binary);
    console.log(formatOutcome(outcome));
    isWell &&= isGood(outcome);
  }
  process.exit(isWell ? 0 : 1);
}
