// Fuzzes RPC mode of the compiled binary: `bun scripts/fuzz-rpc.ts [lines] [seed]` (10,000 lines by default). It must live, answer get_state after
// each hundred lines, and write nothing that its schemas do not know.
import { randomLines } from "../test/helpers/random-lines.ts";
import { startRpc } from "../test/helpers/rpc-client.ts";

const [lines = "10000", seed = String(Date.now() % 2 ** 32)] = process.argv.slice(2);
console.log(`${lines} lines, seed ${seed}`);
await using rpc = startRpc(["--no-session"], { env: { ANTHROPIC_API_KEY: "sk-x", PI_BASE_URL: "http://127.0.0.1:1" } });
let sent = 0;
for (const line of randomLines(Number(seed), Number(lines))) {
  rpc.write(line);
  if (++sent % 100 === 0) await rpc.ask("get_state");
}
rpc.end();
const code = await rpc.exited;
console.log(`exit code ${code}, ${rpc.records.length} records, ${rpc.problems.length} problems`);
for (const problem of rpc.problems.slice(0, 20)) console.log(problem);
process.exit(rpc.problems.length === 0 ? 0 : 1);
