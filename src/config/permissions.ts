// The part of the configuration that the gate goes by: flags and files together. What the rules mean is the gate's to say.
import { AppError } from "../util/error.ts";
import type { Flags, LoadedFile } from "./config.ts";

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

/** A rule and where it was written: a flag, or the path of a file. */
export interface RuleText {
  readonly text: string;
  readonly source: string;
}

/** The rules of all layers count together: what one of them denies, no other can allow. */
export function resolvePermissions(flags: Flags, files: readonly LoadedFile[]): PermissionConfig {
  const rules = (kind: "allow" | "deny") => [
    ...(flags[kind] ?? []).map((text) => ({ text, source: `--${kind}` })),
    ...files.flatMap(({ path, content }) =>
      (content.permissions?.[kind] ?? []).map((text) => ({ text, source: path })),
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
    tools: names(flags.tools),
    excludeTools: names(flags.excludeTools) ?? [],
    allow: rules("allow"),
    deny: rules("deny"),
    sandbox,
    sandboxNet: flags.sandboxNet ?? first("sandbox_net") ?? false,
  };
}

/** `a,b` as a list; undefined stays so. */
function names(list: string | undefined): string[] | undefined {
  return list
    ?.split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
}
