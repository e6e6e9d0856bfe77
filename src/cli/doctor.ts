// `pi-ts doctor`: says what a run in this place would find, and what is wrong with it.
import { type Detail, examine, type Report, type ReportedFinding, type Verdict } from "../app/doctor/index.ts";
import { forReader } from "../modes/show.ts";
import { createStyle, type Style, wantsColour } from "../modes/style.ts";
import { AppError } from "../util/error.ts";
import { plural } from "../util/plural.ts";
import { visibleLine } from "../util/sanitize.ts";
import { rootArgs } from "./args.ts";
import { defineCommand } from "./command.ts";
import { toConfigFlags } from "./config-flags.ts";

/** The flags of a run that decide what it finds here, but for those that only a prompt or a session is about; by their groups in the help. */
const runFlags = pick(rootArgs, [
  "provider",
  "model",
  "base-url",
  "api-key",
  "thinking",
  "max-tokens",
  "max-turns",
  "max-tool-calls",
  "timeout",
  "max-cost",
  "max-tool-output",
  "max-retries",
  "yolo",
  "read-only",
  "tools",
  "exclude-tools",
  "no-tools",
  "no-builtin-tools",
  "mcp-config",
  "no-mcp",
  "allow",
  "deny",
  "sandbox",
  "sandbox-net",
  "trust-project",
  "approve",
  "context-files",
  "auto-compact",
  "quiet",
  "markdown",
]);

export const doctor = defineCommand({
  meta: {
    name: "doctor",
    description:
      "Check provider, key, network, configuration, MCP servers and programs; exit 1 when something is wrong",
  },
  args: {
    json: { type: "boolean", description: "One JSON object" },
    "all-providers": { type: "boolean", description: "Ask every provider that has a key, not just the chosen one" },
    "session-dir": rootArgs["session-dir"],
    ...runFlags,
    help: { group: "Help", type: "boolean", alias: "h", description: "Print this help and exit" },
  },
  async run(args, { io, env, cwd, words }) {
    if (words.length > 0) throw new AppError("usage", `pi-ts doctor takes no words (${words.join(" ")})`);
    const report = await examine({
      cwd,
      env,
      flags: toConfigFlags(args, cwd, undefined),
      sessionDir: args["session-dir"],
      mcp: args["no-mcp"] ? undefined : { files: args["mcp-config"] ?? [] },
      isTerminal: io.isTerminal,
      trust: args.approve ?? args["trust-project"],
      allProviders: args["all-providers"] ?? false,
    });
    if (args.json) io.stdout(`${JSON.stringify(toJson(report))}\n`);
    else io.stdout(format(report, createStyle(io.isTerminal(1) && wantsColour(env)), (text) => forReader(text, io)));
    return report.ok ? 0 : 1;
  },
});

function pick<Table extends object, Name extends keyof Table>(table: Table, names: readonly Name[]): Pick<Table, Name> {
  return Object.fromEntries(names.map((name) => [name, table[name]])) as Pick<Table, Name>;
}

function toJson({ findings, ...report }: Report) {
  const checks = findings.map(({ check, about, verdict, text, next, facts }) => ({
    check,
    about,
    verdict,
    text,
    next,
    ...facts,
  }));
  return { ...report, checks };
}

const marks: Readonly<Record<Verdict, readonly [mark: string, colour: "green" | "yellow" | "red" | "dim"]>> = {
  ok: ["✓", "green"],
  warning: ["!", "yellow"],
  failure: ["✗", "red"],
  skipped: ["-", "dim"],
};

function format({ findings }: Report, style: Style, shown: (text: string) => string): string {
  const width = Math.max(...findings.map((finding) => nameOf(finding).length));
  const indent = " ".repeat(width + 4);
  const lines = findings.flatMap((finding) => {
    const { verdict, text, next, details = [] } = finding;
    const [mark, colour] = marks[verdict];
    return [
      `${style[colour](mark)} ${nameOf(finding).padEnd(width)}  ${shown(visibleLine(text))}`,
      ...(next === undefined ? [] : [`${indent}→ ${shown(next)}`]),
      ...formatDetails(details).map((line) => `${indent}${style.dim(shown(line))}`),
    ];
  });
  return `${[...lines, "", summarize(findings)].join("\n")}\n`;
}

function nameOf({ check, about }: ReportedFinding): string {
  return about === undefined ? check : `${check} ${visibleLine(about)}`;
}

/** Where what only lists things is broken. */
const listWidth = 100;

function formatDetails(details: readonly Detail[]): string[] {
  const rows = details.map(({ name, value, note }) => [name, value, note].map((cell) => cell && visibleLine(cell)));
  const widthOf = (cells: readonly (string | undefined)[]) => Math.max(0, ...cells.map((cell) => cell?.length ?? 0));
  const names = widthOf(rows.map(([name]) => name));
  const values = widthOf(rows.flatMap(([, value, note]) => (note ? [value] : [])));
  return rows.flatMap(([name = "", value = "", note]) => {
    const [first, ...rest] = note ? [`${value.padEnd(values)}  ${note}`] : Bun.wrapAnsi(value, listWidth).split("\n");
    return [`${name.padEnd(names)}  ${first}`, ...rest.map((line) => " ".repeat(names + 2) + line)];
  });
}

function summarize(findings: readonly ReportedFinding[]): string {
  const count = (verdict: Verdict) => findings.filter((finding) => finding.verdict === verdict).length;
  const [failures, warnings] = [count("failure"), count("warning")];
  const noted = warnings === 0 ? "" : ` ${plural(warnings, "warning")}.`;
  return failures === 0
    ? `Nothing is wrong.${noted}`
    : `${plural(failures, "thing")} ${failures === 1 ? "is" : "are"} wrong.${noted}`;
}
