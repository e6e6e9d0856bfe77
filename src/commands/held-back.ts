// Why there is no command of a name although the project has a template or a skill of that name.
import { visibleLine } from "../util/sanitize.ts";

/** `file` is the project's own. */
export function describeHeldBack(file: string): string {
  return `the project's ${visibleLine(file)} counts only when trusted (--trust-project does, for one run)`;
}
