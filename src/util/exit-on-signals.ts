// Signals as a way out of the program like any other, on which what listens to its exit clears up.
import { endingSignals } from "./ending-signals.ts";
import { signalExitCodes } from "./exit-codes.ts";

let listens = false;

/** From now on a signal that nobody else listens to ends the program in order instead of at once. Costs nothing the second time. */
export function exitOnSignals(): void {
  if (listens) return;
  listens = true;
  for (const name of endingSignals()) {
    process.on(name, () => {
      if (process.listenerCount(name) === 1) process.exit(signalExitCodes[name]);
    });
  }
}
