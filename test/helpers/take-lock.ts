// A process that takes the locks of sessions, one after another, once its stdin says so; tells which it got, and keeps them until stdin ends.
import { takeLock } from "../../src/session/lock.ts";
import type { AppError } from "../../src/util/error.ts";

const input = process.stdin[Symbol.asyncIterator]();
console.log("ready");
await input.next();
const taken = process.argv.slice(2).flatMap((path) => {
  try {
    takeLock(path);
    return [path];
  } catch (error) {
    return (error as Error).message.includes("is in use by process") ? [] : [`${error}. ${(error as AppError).hint}`];
  }
});
console.log(`taken ${JSON.stringify(taken)}`);
await input.next();
