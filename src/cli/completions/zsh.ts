// The completion script for zsh, for `fpath` as well as for `source`.
import { shellQuote } from "../../util/shell-quote.ts";
import type { Completion } from "../parse-args.ts";
import { type CommandSpec, type FlagSpec, goesOn } from "./spec.ts";

export function toZsh(root: CommandSpec, commands: readonly CommandSpec[]): string {
  const rows = commands.map(({ name, description }) => `    ${shellQuote(`${name}:${description}`)}`);
  const cases = commands.map((command) => `      ${command.name})\n${call(command, 8)}\n        return\n        ;;`);
  return `#compdef pi-ts
# zsh completion for pi-ts, made by: pi-ts completions zsh

# Asks pi-ts itself for values of this kind; it is told the words before.
_pi_ts_ask() {
  local line
  local -a rows
  for line in "\${(@f)$(command pi-ts completions --values $1 -- "\${(Q)PREFIX}" "\${(@Q)words[1,CURRENT-1]}" 2>/dev/null)}"; do
    [[ -n $line ]] && rows+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done
  _describe -t $1 $1 rows
}

_pi_ts_task() {
  local -a commands
  commands=(
${rows.join("\n")}
  )
  (( CURRENT == 2 )) && _describe -t commands command commands
  compset -P @
  _files
}

_pi-ts() {
  if (( CURRENT > 2 )); then
    case $words[2] in
${cases.join("\n")}
    esac
  fi
${call({ ...root, words: [] }, 2, "'*:task:_pi_ts_task'")}
}

# Where compinit is still to come, this runs before the first prompt.
_pi_ts_register() {
  add-zsh-hook -d precmd _pi_ts_register
  if (( $+functions[compdef] )); then
    compdef _pi-ts pi-ts
  else
    print -u2 'pi-ts: completions need compinit; ~/.zshrc has to call it: autoload -Uz compinit; compinit'
  fi
}

if [[ $funcstack[1] == _pi-ts ]]; then
  _pi-ts "$@"
elif (( $+functions[compdef] )); then
  compdef _pi-ts pi-ts
else
  autoload -Uz add-zsh-hook
  add-zsh-hook precmd _pi_ts_register
fi
`;
}

/** The call of `_arguments` for one command; a subcommand's own words begin behind its name. */
function call({ name, flags, words }: CommandSpec, indent: number, ...more: string[]): string {
  const space = " ".repeat(indent);
  const specs = [
    ...flags.flatMap(toSpecs),
    ...words.map((values, i) =>
      shellQuote(`${goesOn(i, words) ? "*" : i + 1}:${i === 0 ? name : "value"}:${action(values)}`),
    ),
    ...more,
  ];
  const shift = name === "" ? "" : `${space}shift words\n${space}(( CURRENT-- ))\n`;
  return `${shift}${space}_arguments \\\n${specs.map((spec) => `${space}  ${spec}`).join(" \\\n")}`;
}

function toSpecs({ names, description, takes, repeatable, hint, values }: FlagSpec): string[] {
  const exclusive = repeatable ? "*" : `(${names.join(" ")})`;
  const about = `[${escaped(description)}]`;
  const value = takes === "nothing" ? "" : `${takes === "optional" ? "::" : ":"}${escaped(hint)}:${action(values)}`;
  return names.map((name) => {
    const equals = takes !== "nothing" && name.startsWith("--") ? "=" : "";
    return shellQuote(`${exclusive}${name}${equals}${about}${value}`);
  });
}

function action(values: Completion | undefined): string {
  if (values === undefined) return " ";
  if (values === "files") return "_files";
  if (values === "folders") return "_files -/";
  // The blank keeps `_arguments` from putting options of its own before the argument.
  return typeof values === "string" ? ` _pi_ts_ask ${values}` : `(${values.join(" ")})`;
}

function escaped(text: string): string {
  return text.replace(/[[\]:\\]/g, "\\$&");
}
