// The least that going on in a session can cost: its file is read and each line parsed, once. Prints how many there were.
// With `--send` all messages go to the server in one request, as for a session that nothing was ever cut from.
import { readFileSync } from "node:fs";
import { writeStdout } from "../../../src/util/stdout.ts";

const [, , path = "", flag] = process.argv;
const messages: object[] = [];
let records = 0;
for (const line of readFileSync(path, "utf8").split("\n")) {
  if (line === "") continue;
  const record = JSON.parse(line);
  if (record.type === "message") messages.push(record.message);
  records++;
}
if (flag === "--send") {
  const body = JSON.stringify({ model: "bench", stream: true, messages });
  await (await fetch(`${process.env.PI_BASE_URL}/chat/completions`, { method: "POST", body })).text();
}
await writeStdout(`${records}\n`);
