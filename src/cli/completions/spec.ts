// What the scripts for all shells are made from: a command's flags and words as a shell needs to know them.
import { foreignArgs } from "../args.ts";
import type { AnyCommand } from "../command.ts";
import { type Completion, dashed, type FlagsDef } from "../parse-args.ts";

export interface FlagSpec {
  /** With their dashes; the long one first. */
  readonly names: readonly string[];
  readonly description: string;
  /** `optional`: the value may be left out. */
  readonly takes: "nothing" | "value" | "optional";
  readonly repeatable: boolean;
  /** What its value is called. */
  readonly hint: string;
  readonly values: Completion | undefined;
}

export interface CommandSpec {
  /** Empty for the root command. */
  readonly name: string;
  readonly description: string;
  readonly flags: readonly FlagSpec[];
  /** What its words can be, in order; the last of several goes on. */
  readonly words: readonly (Completion | undefined)[];
}

export function describeCommand(name: string, { meta, args }: AnyCommand): CommandSpec {
  const entries = Object.entries(args as FlagsDef);
  const words = entries.filter(([, arg]) => arg.type === "positional").map(([, arg]) => arg.complete);
  const flags = entries
    .filter(([flag, arg]) => arg.type !== "positional" && !Object.hasOwn(foreignArgs, flag))
    .flatMap(([flag, arg]) => describeFlag(flag, arg));
  return { name, description: meta.description ?? "", flags, words };
}

/** Whether any further words can be what the word at `index` can. */
export function goesOn(index: number, words: CommandSpec["words"]): boolean {
  return index > 0 && index === words.length - 1;
}

function describeFlag(name: string, arg: FlagsDef[string]): FlagSpec[] {
  const aliases = "alias" in arg && arg.alias !== undefined ? [arg.alias].flat() : [];
  const isSwitch = arg.type === "boolean";
  const hint = arg.valueHint ?? name;
  const flag: FlagSpec = {
    names: [`--${name}`, ...aliases.map(dashed)],
    description: arg.description ?? "",
    takes: isSwitch ? "nothing" : arg.valueless ? "optional" : "value",
    repeatable: arg.repeatable ?? false,
    hint,
    values: isSwitch ? undefined : (arg.complete ?? valuesByHint(hint)),
  };
  const off = "negativeDescription" in arg ? arg.negativeDescription : undefined;
  const isOn = "default" in arg && arg.default === true;
  if (!isSwitch || (off === undefined && arg.negativeAlias === undefined)) return [flag];
  const negative = {
    ...flag,
    names: [`--no-${name}`, ...(arg.negativeAlias === undefined ? [] : [dashed(arg.negativeAlias)])],
    description: off ?? flag.description,
  };
  return isOn ? [negative] : [flag, negative];
}

function valuesByHint(hint: string): Completion | undefined {
  const kinds = hint.split("|");
  if (kinds.includes("folder")) return "folders";
  return kinds.some((kind) => kind === "file" || kind === "path") ? "files" : undefined;
}
