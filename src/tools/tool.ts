// The tool interface: what the executor, the gate and the modes know of a tool.
import type { ToolResult } from "../protocol/event.ts";
import type { ImageContent, ToolAccess, ToolSpec } from "../protocol/message.ts";
import type { Environment } from "../util/environment.ts";
import type { FileMemory } from "./file-memory.ts";

/** What a running tool may use; it asks nothing of the process itself. */
export interface ToolContext {
  /** The working directory at start, absolute; relative paths resolve against it. */
  readonly cwd: string;
  /** The environment for children. */
  readonly env: Environment;
  /** Fires when the run is aborted; the tool stops what it started and returns at once. */
  readonly signal: AbortSignal;
  /** The most characters of output a result may have, beside the words that say what was cut; nothing needs to be kept beyond it. */
  readonly maxOutput: number;
  /** Reports progress: `content` is the output so far (a tail of it, when long). */
  readonly onUpdate: (partial: ToolResult) => void;
  /** What the agent has seen of files in this conversation. */
  readonly files: FileMemory;
  /** Whether the model takes images. */
  readonly acceptsImages: boolean;
  /** Whether a real path is one that the gate has judged for this call; without it any is. */
  readonly isJudged?: ((realPath: string) => boolean) | undefined;
  /** Whether a rule keeps a tool from showing an absolute path that it comes across. */
  readonly deniesPath?: ((toolName: string, path: string) => boolean) | undefined;
  /** Puts a command into the sandbox, when there is one. */
  readonly sandbox?: ((command: readonly string[]) => string[]) | undefined;
}

/** `text` is what the model reads, with `images` behind it; `structuredContent` and `details` are for programs. */
export interface ToolOutput {
  readonly text: string;
  readonly images?: readonly ImageContent[];
  /** The tool has cut its text to the cap itself, and said so in it. */
  readonly bounded?: boolean;
  readonly isError?: boolean;
  readonly structuredContent?: unknown;
  readonly details?: unknown;
}

/** A failure for the model to read and react to: its message goes back as `Error: <message>`. */
export class ToolError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "ToolError";
  }
}

export function toolError(message: string, options?: ErrorOptions): ToolError {
  return new ToolError(message, options);
}

/** A call whose arguments are valid, ready to be judged and run. */
export interface ToolInvocation {
  /** The call in a few words, such as the command or the path; unsanitized, may be long. */
  readonly summary: string;
  /** The paths it touches, as the model gave them. */
  readonly paths: readonly string[];
  /** All that would happen, for a person to approve: the whole command, or a diff. Throws `ToolError` if it could not run anyway. */
  preview(context: Pick<ToolContext, "cwd" | "files">): Promise<string>;
  run(context: ToolContext): Promise<ToolOutput>;
}

export interface Tool {
  readonly name: string;
  readonly access: ToolAccess;
  /** Checks the model's arguments; throws `ToolError` naming the field that is wrong. */
  prepare(args: unknown): ToolInvocation;
}

/** The tools of a run: what requests offer, and the code behind each name, loaded when it is first called. */
export interface ToolSet {
  readonly specs: readonly ToolSpec[];
  load(name: string): Promise<Tool | undefined>;
}
