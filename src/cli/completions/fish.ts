// The completion script for fish.
import type { Completion } from "../parse-args.ts";
import { type CommandSpec, type FlagSpec, goesOn } from "./spec.ts";

export function toFish(root: CommandSpec, commands: readonly CommandSpec[]): string {
  const names = commands.map(({ name }) => name).join(" ");
  const offers = commands.map(
    ({ name, description }) => `complete -c pi-ts -n __pi_ts_is_first -a ${name} -d ${quote(description)}`,
  );
  const takers = commands
    .filter(({ words }) => words.length > 0)
    .flatMap(({ name, flags }) =>
      flags.filter(({ takes }) => takes === "value").flatMap((flag) => flag.names.map((long) => `${name}:${long}`)),
    );
  const lines = [root, ...commands].flatMap((command) => toLines(command, names));
  return `# fish completion for pi-ts, made by: pi-ts completions fish

# The words before the one that is typed, without the program.
function __pi_ts_words
    set -l words (commandline -opc)
    test (count $words) -gt 1; and printf '%s\\n' $words[2..-1]
end

function __pi_ts_is_first
    test (count (__pi_ts_words)) -eq 0
end

# Whether the first word is one of these commands.
function __pi_ts_command
    set -l words (__pi_ts_words)
    contains -- "$words[1]" $argv
end

# Whether so many words that are neither flags nor their values stand behind the command.
function __pi_ts_position
    set -l words (__pi_ts_words)
    set -l command $words[1]
    set -e words[1]
    set -l position 0
    set -l before ''
    for word in $words
        if not contains -- "$command:$before" ${takers.join(" ")}
            string match -q -- '-*' $word; or set position (math $position + 1)
        end
        set before $word
    end
    test $position $argv
end

# Asks pi-ts itself for values of this kind; it is told the words before.
function __pi_ts_ask
    command pi-ts completions --values $argv[1] -- (commandline -ct | string replace -r '^--[^=]*=' '') (__pi_ts_words) 2>/dev/null
end

# Files that are sent along.
function __pi_ts_attachments
    set -l word (commandline -ct)
    string match -q '@*' -- $word; or return
    for path in (__fish_complete_path (string sub -s 2 -- $word))
        echo "@$path"
    end
end

complete -c pi-ts -e
complete -c pi-ts -n 'not __pi_ts_command ${names}' -a '(__pi_ts_attachments)'
${[...offers, ...lines].join("\n")}
`;
}

function toLines({ name, flags, words }: CommandSpec, names: string): string[] {
  const here = name === "" ? `not __pi_ts_command ${names}` : `__pi_ts_command ${name}`;
  const forFlags = flags.map((flag) => `complete -c pi-ts -n ${quote(here)} ${flagOptions(flag)}`);
  if (name === "") return forFlags;
  // Files are offered only where they are wanted.
  const quiet = `complete -c pi-ts -n ${quote(here)} -f`;
  const forWords = words.flatMap((values, i) => {
    const options = valueOptions(values);
    const position = goesOn(i, words) ? `-ge ${i}` : `-eq ${i}`;
    return options === ""
      ? []
      : [`complete -c pi-ts -n ${quote(`${here}; and __pi_ts_position ${position}`)} ${options}`];
  });
  return [quiet, ...forFlags, ...forWords];
}

function flagOptions({ names, description, takes, values }: FlagSpec): string {
  const forms = names.map((name) => {
    const bare = name.replace(/^-+/, "");
    return `${name.startsWith("--") ? "-l" : bare.length === 1 ? "-s" : "-o"} ${bare}`;
  });
  // Fish knows no value that may be left out.
  const needs = takes === "nothing" ? "" : " -r";
  const offers = takes === "nothing" ? "" : ` ${valueOptions(values) || "-f"}`;
  return `${forms.join(" ")} -d ${quote(description)}${needs}${offers}`;
}

function valueOptions(values: Completion | undefined): string {
  if (values === undefined) return "";
  if (values === "files") return "-F";
  if (values === "folders") return "-f -a '(__fish_complete_directories (commandline -ct))'";
  return typeof values === "string" ? `-f -a '(__pi_ts_ask ${values})'` : `-f -a ${quote(values.join(" "))}`;
}

function quote(text: string): string {
  return `'${text.replace(/[\\']/g, "\\$&")}'`;
}
