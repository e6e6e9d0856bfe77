// The help texts: citty's rendering of a command, and what no flag says.
import { renderUsage } from "citty";
import type { CliCommand } from "./command.ts";

const footer = `COMMANDS
  pi-ts models       List the models known for each provider
  pi-ts sessions     List, show, remove or export stored conversations
  pi-ts mcp          List, add, remove or check MCP servers
  pi-ts doctor       Check provider, key, network, configuration, MCP servers and programs
  pi-ts completions  Print what makes a shell complete command lines
  pi-ts demo         See it work, without a key or a network

ENVIRONMENT
  PI_PROVIDER, PI_MODEL, PI_MAX_TOKENS, PI_BASE_URL   As the flags of these names
  PI_FIRST_BYTE_TIMEOUT, PI_IDLE_TIMEOUT              Longest silence in seconds, 0 = no limit
  PI_TS_HOME                                          Folder of config.toml, history and sessions (~/.pi-ts)
  PI_TS_SESSION_DIR, PI_CODING_AGENT_SESSION_DIR      Folder of the sessions
  ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY, DEEPSEEK_API_KEY, MOONSHOT_API_KEY

EXIT CODES
  0    finished with an answer
  1    API error, fatal tool error, a limit reached, no whole answer, an answer that
       --output-schema refuses, or a denied call with --fail-on-denied
  2    wrong usage, wrong configuration or missing key
  129, 130, 143    ended by SIGHUP, SIGINT (Ctrl-C), SIGTERM

EXAMPLES
  pi-ts                                  Talk to it
  pi-ts -p "why does test.sh fail?"      One answer on stdout
  git diff | pi-ts -p "review this"      Piped text is added to the task
  pi-ts -p "what is wrong?" @shot.png    Files go along with it
`;

/** Help for the root command, or for one of its commands; plain text unless `colour`. */
export async function renderHelp(command: CliCommand, isSubcommand: boolean, colour: boolean): Promise<string> {
  const { meta, args } = command;
  const parent = isSubcommand ? { meta: { name: "pi-ts" } } : undefined;
  const usage = `${(await renderUsage({ meta, args }, parent)).trimEnd()}\n`;
  const text = isSubcommand ? usage : `${usage}\n${footer}`;
  return colour ? text : Bun.stripANSI(text);
}
