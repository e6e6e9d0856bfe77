// The few colours that people are shown, or none of them.
import type { Environment } from "../util/environment.ts";

export interface Style {
  readonly bold: Paint;
  readonly dim: Paint;
  readonly italic: Paint;
  readonly underline: Paint;
  readonly strike: Paint;
  readonly red: Paint;
  readonly green: Paint;
  readonly yellow: Paint;
  readonly cyan: Paint;
}

/** Text in a colour; every line on its own, so that each can be cut or moved by itself. */
export type Paint = (text: string) => string;

/** Colours unless `colour` is false; with it false every paint gives back its text. */
export function createStyle(colour: boolean): Style {
  const paint =
    (on: number, off: number): Paint =>
    (text) =>
      colour && text !== "" ? text.replace(/[^\n]+/g, (line) => `\x1b[${on}m${line}\x1b[${off}m`) : text;
  return {
    bold: paint(1, 22),
    dim: paint(2, 22),
    italic: paint(3, 23),
    underline: paint(4, 24),
    strike: paint(9, 29),
    red: paint(31, 39),
    green: paint(32, 39),
    yellow: paint(33, 39),
    cyan: paint(36, 39),
  };
}

/** Whether the environment wants colour: https://no-color.org, and terminals that know no escape sequences. */
export function wantsColour(env: Environment): boolean {
  return !env.NO_COLOR && env.TERM !== "dumb";
}
