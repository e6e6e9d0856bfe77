// What a one-shot run came to, said on stderr.
import type { LoopOutcome } from "../app/app.ts";
import { describeError } from "../util/error.ts";
import { log } from "../util/log.ts";
import { redact } from "../util/redact.ts";
import { visibleLine } from "../util/sanitize.ts";
import { oneLine } from "../util/truncate.ts";
import type { Verdict } from "./one-shot.ts";

export function reportOutcome({ error, denied }: LoopOutcome, { status }: Verdict): void {
  for (const { toolName, summary } of denied) log().warn(`denied: ${toolName} ${visibleLine(oneLine(summary, 160))}`);
  if (error && error.code !== "aborted") log().error(redact(describeError(error)));
  if (status === "aborted") log().warn("interrupted");
}
