// `pi-ts doctor`: all checks of a run's surroundings, within one time limit and mostly side by side. It never hangs, and says nothing secret.
import { toAppError } from "../../util/error.ts";
import { namedSecrets } from "../../util/redact.ts";
import { version } from "../../util/version.ts";
import { type Check, type Finding, hideSecretsIn, type Surroundings } from "./check.ts";
import { configCheck } from "./config.ts";
import { homeCheck, sessionsCheck } from "./folders.ts";
import { keyCheck, keysIn } from "./key.ts";
import { mcpCheck } from "./mcp.ts";
import { certificatesCheck, proxyCheck } from "./network.ts";
import { programCheck, terminalCheck } from "./program.ts";
import { bashCheck, ripgrepCheck } from "./programs.ts";
import { providerCheck } from "./provider.ts";
import { sandboxCheck } from "./sandbox.ts";
import { type DoctorOptions, gatherSurroundings } from "./surroundings.ts";

export type { Detail, Verdict } from "./check.ts";

/** In the order they are told. */
const checks: readonly Check[] = [
  programCheck,
  homeCheck,
  configCheck,
  keyCheck,
  proxyCheck,
  certificatesCheck,
  providerCheck,
  mcpCheck,
  sandboxCheck,
  bashCheck,
  ripgrepCheck,
  sessionsCheck,
  terminalCheck,
];

export interface ReportedFinding extends Finding {
  readonly check: string;
}

/** One JSON object of `--json`, but for the details, which are for people. */
export interface Report {
  /** Whether nothing is wrong; warnings do not count. */
  readonly ok: boolean;
  readonly version: string;
  readonly findings: readonly ReportedFinding[];
}

/** All checks together may take no longer. */
const limitMs = 15_000;

export async function examine(options: DoctorOptions): Promise<Report> {
  const surroundings = await gatherSurroundings(options);
  const limit = AbortSignal.timeout(limitMs);
  const run = (check: Check) => runCheck(check, surroundings, limit);
  const found = new Map<Check, ReportedFinding[]>();
  for (const check of checks.filter(({ blocks }) => blocks)) found.set(check, await run(check));
  await Promise.all(checks.filter(({ blocks }) => !blocks).map(async (check) => found.set(check, await run(check))));
  const findings = checks.flatMap((check) => found.get(check) ?? []);
  const isOk = !findings.some(({ verdict }) => verdict === "failure");
  return withoutSecrets({ ok: isOk, version, findings }, surroundings);
}

async function runCheck(check: Check, surroundings: Surroundings, limit: AbortSignal): Promise<ReportedFinding[]> {
  const late = new Promise<Finding>((resolve) => {
    limit.addEventListener("abort", () =>
      resolve({
        verdict: "failure",
        text: `did not end within ${limitMs / 1000} s`,
        next: "Try again: a disk, a program or a server that it asks does not answer.",
      }),
    );
  });
  try {
    const found = await Promise.race([(async () => check.run(surroundings, limit))(), late]);
    return [found].flat().map((finding) => ({ check: check.name, ...finding }));
  } catch (thrown) {
    const { message, hint, code } = toAppError(thrown);
    return [{ check: check.name, verdict: "failure", text: message, next: hint, facts: { code } }];
  }
}

function withoutSecrets(report: Report, surroundings: Surroundings): Report {
  const { providers } = surroundings;
  const configured = providers.flatMap(({ provider }) => [
    provider.apiKey?.trim(),
    ...provider.secretValues,
    ...namedSecrets(Object.fromEntries(new URL(provider.baseUrl).searchParams)),
  ]);
  const secrets = [...keysIn(surroundings), ...configured, surroundings.flags.apiKey];
  const findings = report.findings.map(({ check, ...rest }) => ({ check, ...hideSecretsIn(rest, secrets) }));
  return { ...report, findings };
}
