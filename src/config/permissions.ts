// The part of the configuration that the gate goes by: flags and files together. What the rules mean is the gate's to say.
import { AppError } from "../util/error.ts";
import type { RuleText } from "../util/rule-text.ts";
import type { Flags, LoadedFile } from "./config.ts";
import { lineOfKey } from "./locate.ts";

/** What the gate goes by. */
export interface PermissionConfig {
  readonly yolo: boolean;
  readonly readOnly: boolean;
  /** The only tools to offer; undefined offers all. */
  readonly tools: readonly string[] | undefined;
  readonly excludeTools: readonly string[];
  /** Rules as they were written, from all layers together. */
  readonly allow: readonly RuleText[];
  readonly deny: readonly RuleText[];
  readonly sandbox: boolean;
  readonly sandboxNet: boolean;
}

/** The rules of all layers count together: what one of them denies, no other can allow. */
export function resolvePermissions(flags: Flags, files: readonly LoadedFile[]): PermissionConfig {
  const rules = (kind: "allow" | "deny") => [
    ...(flags[kind] ?? []).map((text) => ({ text, source: `--${kind}` })),
    ...files.flatMap((file) =>
      (file.content.permissions?.[kind] ?? []).map((text) => ({ text, source: placeOf(file, kind) })),
    ),
  ];
  const first = (key: "sandbox" | "sandbox_net") =>
    files.find(({ content }) => content[key] !== undefined)?.content[key];
  const sandbox = flags.sandbox ?? first("sandbox") ?? false;
  if (flags.sandboxNet && !sandbox) {
    throw new AppError("usage", "--sandbox-net says what a sandbox lets through, and there is none", {
      hint: "Add --sandbox.",
    });
  }
  return {
    yolo: flags.yolo ?? false,
    readOnly: flags.readOnly ?? false,
    tools: names("--tools", flags.tools) ?? (flags.noTools ? [] : undefined),
    excludeTools: names("--exclude-tools", flags.excludeTools) ?? [],
    allow: rules("allow"),
    deny: rules("deny"),
    sandbox,
    sandboxNet: flags.sandboxNet ?? first("sandbox_net") ?? false,
  };
}

/** The file, the line and the key that hold the rules. */
function placeOf({ path, text }: LoadedFile, kind: "allow" | "deny"): string {
  const line = text === undefined ? undefined : lineOfKey(text, ["permissions", kind]);
  return `${path}${line === undefined ? "" : `:${line}`}, permissions.${kind}`;
}

/** `a,b` as a list; undefined stays so. Throws `AppError` `usage` for a list without a name. */
function names(flag: string, list: string | undefined): string[] | undefined {
  const all = list
    ?.split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
  if (all?.length === 0) throw new AppError("usage", `${flag} names no tool`, { hint: `Such as ${flag} read,grep.` });
  return all;
}
