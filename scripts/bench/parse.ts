// The least that going on in a session can cost: its file is read and each line parsed, once. Prints how many there were.
import { readFileSync } from "node:fs";
import { writeStdout } from "../../src/util/stdout.ts";

let records = 0;
for (const line of readFileSync(process.argv[2] as string, "utf8").split("\n")) {
  if (line === "") continue;
  JSON.parse(line);
  records++;
}
await writeStdout(`${records}\n`);
