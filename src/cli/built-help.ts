// The help of the root command as the program carries it: to put it together takes half as long as a start.
import { rootHelp } from "./root-help.ts" with { type: "macro" };

export const helpText: string = rootHelp();
