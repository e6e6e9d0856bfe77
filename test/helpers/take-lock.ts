// A process that takes a session's lock once its stdin says so, tells how that went, and keeps it until stdin ends.
import { takeLock } from "../../src/session/lock.ts";

const input = process.stdin[Symbol.asyncIterator]();
console.log("ready");
await input.next();
try {
  takeLock(process.argv[2] as string);
  console.log("got it");
} catch (error) {
  console.log((error as Error).message);
}
await input.next();
