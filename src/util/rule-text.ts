/** A rule of the user's as it was written, and where: a flag, or a line of a file. */
export interface RuleText {
  readonly text: string;
  readonly source: string;
}
