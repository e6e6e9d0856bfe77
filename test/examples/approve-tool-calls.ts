// Approves tool calls: what the agent's rules do not allow by themselves is shown first, and happens after a "y".
//   bun approve-tool-calls.ts "Run the tests and mend what fails"
import { createInterface } from "node:readline";
import { AgentClient } from "pi-ts";

const [task = "Make a file called hello.txt"] = process.argv.slice(2);

const terminal = createInterface({ input: process.stdin });
const lines = terminal[Symbol.asyncIterator]();

await using agent = await AgentClient.start();

agent.onApproval(async (request) => {
  // A question of another kind gets no answer, which is a no.
  if (request.method !== "confirm") return undefined;
  console.error(`${request.title}\n\n${request.message}\n`);
  process.stderr.write("y/N? ");
  const { value: answer = "" } = await lines.next();
  return answer.trim().toLowerCase() === "y";
});

const run = agent.run(task);
for await (const event of run) {
  if (event.type !== "tool_execution_end") continue;
  console.error(`[${event.toolName}] ${event.isError ? "has failed, or was not allowed" : "done"}`);
}
console.log(await run.text());
terminal.close();
