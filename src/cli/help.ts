// The help texts: a command's words and flags in columns, made of its description, and what no flag says. citty's own rendering is one long
// column that does not fit a terminal.
import type { CliCommand } from "./command.ts";
import { aliasesOf, dashed, type FlagsDef } from "./parse-args.ts";

const footer = `COMMANDS
  pi-ts models       List the models known for each provider
  pi-ts sessions     List, show, remove or export stored conversations
  pi-ts mcp          List, add, remove or check MCP servers
  pi-ts doctor       Check provider, key, network, configuration and programs
  pi-ts completions  Print what makes a shell complete command lines
  pi-ts demo         See it work, without a key or a network

ENVIRONMENT
  PI_PROVIDER, PI_MODEL, PI_MAX_TOKENS, PI_BASE_URL
                                As the flags of these names
  PI_FIRST_BYTE_TIMEOUT, PI_IDLE_TIMEOUT
                                Longest silence in seconds, 0 = no limit
  PI_TS_HOME                    Folder of config.toml, history and sessions
                                (~/.pi-ts)
  PI_TS_SESSION_DIR, PI_CODING_AGENT_SESSION_DIR
                                Folder of the sessions
  ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY, DEEPSEEK_API_KEY,
  MOONSHOT_API_KEY              The providers' keys

EXIT CODES
  0    finished with an answer
  1    API error, fatal tool error, a limit reached, no whole answer, an answer
       that --output-schema refuses or that could not be written, a denied call
       with --fail-on-denied, a required MCP server that is not there, or
       something wrong that doctor or mcp check found
  2    wrong usage, wrong configuration, missing key, or a session that cannot
       be read or written
  129, 130, 143    ended by SIGHUP, SIGINT (Ctrl-C), SIGTERM

EXAMPLES
  pi-ts                                  Talk to it
  pi-ts -p "why does test.sh fail?"      One answer on stdout
  git diff | pi-ts -p "review this"      Piped text is added to the task
  pi-ts -p "what is wrong?" @shot.png    Files go along with it
`;

/** Columns of the flags; what is behind a longer one begins on the next row. */
const flagsWidth = 28;

/** Of the whole, where words allow: what any terminal has, so that none must be asked. */
const columns = 80;

/** Help for the root command, or for one of its commands. */
export function renderHelp({ meta, args }: Pick<CliCommand, "meta" | "args">, isSubcommand: boolean): string {
  const { name = "", description = "" } = meta as { readonly name?: string; readonly description?: string };
  const command = isSubcommand ? `pi-ts ${name}` : name;
  const flags = Object.entries(args as FlagsDef).filter(([, { type }]) => type !== "positional");
  const words = Object.entries(args as FlagsDef).filter(([, { type }]) => type === "positional");
  const parts = [
    `${Bun.wrapAnsi(description, columns)}\n`,
    `USAGE\n  ${[command, "[OPTIONS]", ...words.map(([word]) => `[${word.toUpperCase()}]`)].join(" ")}`,
    ...(words.length > 0 ? ["\nARGUMENTS", ...words.map(([word, arg]) => row(word.toUpperCase(), arg))] : []),
    ...flags.flatMap(([flag, arg], i) => {
      const heading = arg.group ?? (i === 0 ? "OPTIONS" : undefined);
      return [...(heading === undefined ? [] : [`\n${heading.toUpperCase()}`]), row(describeFlag(flag, arg), arg)];
    }),
    ...(isSubcommand ? [] : [`\n${footer.trimEnd()}`]),
  ];
  return `${parts.join("\n")}\n`;

  function row(left: string, arg: FlagsDef[string]): string {
    const { description: said = "", negativeDescription = said } = arg as {
      readonly description?: string;
      readonly negativeDescription?: string;
    };
    const lines = Bun.wrapAnsi(isOnByDefault(arg) ? negativeDescription : said, columns - flagsWidth - 4).split("\n");
    const margin = " ".repeat(flagsWidth + 4);
    const first = left.length > flagsWidth ? `  ${left}\n${margin}` : `  ${left.padEnd(flagsWidth)}  `;
    return `${first}${lines.join(`\n${margin}`)}`;
  }
}

function isOnByDefault({ type, ...rest }: FlagsDef[string]): boolean {
  return type === "boolean" && "default" in rest && rest.default === true;
}

/**
 * `-m, --model ID`: short forms in a column of their own, other names behind the long one. A switch that is on by default is told as what
 * turns it off.
 */
function describeFlag(name: string, arg: FlagsDef[string]): string {
  const turnsOff = isOnByDefault(arg);
  const aliases = (turnsOff ? [arg.negativeAlias ?? []].flat() : aliasesOf(arg)).map(dashed);
  const value = "valueHint" in arg && arg.valueHint ? ` ${arg.valueHint.toUpperCase()}` : "";
  const isLong = (alias: string) => alias.startsWith("--");
  const short = aliases.filter((alias) => !isLong(alias));
  const margin = short.length === 0 ? "    " : "";
  return `${margin}${[...short, `--${turnsOff ? "no-" : ""}${name}`, ...aliases.filter(isLong)].join(", ")}${value}`;
}
