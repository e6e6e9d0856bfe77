// The completion script for bash. It stands alone (no bash-completion needed) and keeps to what bash 3.2 knows.
import type { Completion } from "../parse-args.ts";
import { type CommandSpec, goesOn } from "./spec.ts";

/** The names of flags are all there is to see: bash shows no descriptions. */
export function toBash(root: CommandSpec, commands: readonly CommandSpec[]): string {
  const all = [root, ...commands];
  const names = commands.map(({ name }) => name);
  const takers = all.flatMap(({ name, flags }) =>
    flags.filter(({ takes }) => takes === "value").flatMap((flag) => flag.names.map((long) => `${name}:${long}`)),
  );
  const flagCases = [...groupFlags(all)].map(([action, patterns]) => `    ${patterns.join("|")}) ${action} ;;`);
  const wordCases = all.flatMap(({ name, words }) =>
    words.map((values, i) => `    ${name}:${name === "" || goesOn(i, words) ? "*" : i}) ${offer(values)} ;;`),
  );
  const listCases = all.map(({ name, flags }) => {
    return `      "${name}") _pi_ts_words ${flags.flatMap((flag) => flag.names).join(" ")} ;;`;
  });
  return `# bash completion for pi-ts, made by: pi-ts completions bash

# Offers the lines of stdin that go on from what is typed.
_pi_ts_offer() {
  local value
  while IFS= read -r value; do
    [[ $value == "$cur"* ]] && COMPREPLY+=("$value")
  done
}

_pi_ts_words() {
  _pi_ts_offer < <(printf '%s\\n' "$@")
}

# Asks pi-ts itself for values of this kind; it is told the words before, without their quotes.
_pi_ts_ask() {
  local before=() word
  while IFS= read -r word; do
    before+=("$word")
  done < <(xargs printf '%s\\n' <<<"\${line%"$cur"}" 2>/dev/null)
  _pi_ts_offer < <(
    command pi-ts completions --values "$1" -- "$cur" \${before[@]+"\${before[@]}"} 2>/dev/null | cut -f 1
  )
}

# Leaves it to bash to complete a path.
_pi_ts_paths() {
  compopt -o "$1" 2>/dev/null
}

# Completes the path behind an @, which bash takes for the start of a host's name.
_pi_ts_attachments() {
  local path
  while IFS= read -r path; do
    [[ -d $path ]] && path+=/ && compopt -o nospace 2>/dev/null
    COMPREPLY+=("@$(printf '%q' "$path")")
  done < <(compgen -f -- "\${cur#@}")
}

_pi_ts_takes_value() {
  case $1 in
    ${takers.join("|")}) return 0 ;;
  esac
  return 1
}

_pi_ts_complete() {
  local command="" position=0 flag="" i
  case \${words[1]-} in
    ${names.join("|")}) command=\${words[1]} ;;
  esac
  for ((i = 1; i < \${#words[@]}; i++)); do
    if _pi_ts_takes_value "$command:\${words[i]}"; then
      ((i++))
    elif [[ \${words[i]} == -- ]]; then
      _pi_ts_paths default
      return
    elif [[ \${words[i]} != -?* ]]; then
      ((position++))
    fi
  done
  [[ -n $command ]] && ((position--))

  if [[ $cur == --*=* ]]; then
    flag=\${cur%%=*}
    cur=\${cur#*=}
  elif ((\${#words[@]} > 1)); then
    flag=\${words[\${#words[@]} - 1]}
  fi
  case $command:$flag in
${flagCases.join("\n")}
  esac

  if [[ $cur == -* ]]; then
    case $command in
${listCases.join("\n")}
    esac
    return
  fi
  if [[ -z $command && $cur == @* ]]; then
    _pi_ts_attachments
    return
  fi
  ((\${#words[@]} == 1)) && _pi_ts_words ${names.join(" ")}
  case $command:$position in
${wordCases.join("\n")}
  esac
}

_pi_ts() {
  # The words as blanks part them, since bash itself parts them at = and : too.
  local line=\${COMP_LINE:0:COMP_POINT} cur words i IFS=$' \\t\\n'
  cur=\${line##*[[:space:]]}
  read -ra words <<<"\${line%"$cur"}"
  COMPREPLY=()
  _pi_ts_complete
  # Bash replaces only what stands behind the last colon.
  if [[ $cur == *:* && $COMP_WORDBREAKS == *:* ]]; then
    for ((i = 0; i < \${#COMPREPLY[@]}; i++)); do
      COMPREPLY[i]=\${COMPREPLY[i]#"\${cur%"\${cur##*:}"}"}
    done
  fi
}

if type compopt >/dev/null 2>&1; then
  complete -F _pi_ts pi-ts
else
  complete -o default -F _pi_ts pi-ts
fi
`;
}

/** The flags that take values, by what is done for one. Where the value may be left out, a flag can follow. */
function groupFlags(all: readonly CommandSpec[]): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const { name, flags } of all) {
    for (const { names, takes, values } of flags) {
      if (takes === "nothing") continue;
      const action =
        takes === "value" ? `${offer(values)}; return` : `[[ $cur == -* ]] || { ${offer(values)}; return; }`;
      groups.set(action, [...(groups.get(action) ?? []), ...names.map((flag) => `${name}:${flag}`)]);
    }
  }
  return groups;
}

function offer(values: Completion | undefined): string {
  if (values === undefined) return ":";
  if (values === "files") return "_pi_ts_paths default";
  if (values === "folders") return "_pi_ts_paths dirnames";
  return typeof values === "string" ? `_pi_ts_ask ${values}` : `_pi_ts_words ${values.join(" ")}`;
}
