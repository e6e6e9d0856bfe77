// Streams an answer: each piece of it as the model writes it, then what the run has cost.
//   bun stream-answer.ts "Why is the sky blue?"
import { AgentClient } from "pi-ts";

const [task = "Why is the sky blue?"] = process.argv.slice(2);

// Starts `pi-ts` from the PATH; at the end of the scope it is ended, whatever happened.
await using agent = await AgentClient.start();

const run = agent.run(task);
for await (const event of run) {
  if (event.type === "message_update" && event.assistantMessageEvent.type === "text_delta") {
    process.stdout.write(event.assistantMessageEvent.delta);
  } else if (event.type === "tool_execution_start") {
    console.error(`[${event.toolName}] ${JSON.stringify(event.args)}`);
  }
}
process.stdout.write("\n");

const { error, usage } = await run.outcome();
console.error(`${usage.input + usage.cacheRead} tokens in, ${usage.output} out, $${usage.cost.total.toFixed(4)}`);
if (error) {
  console.error(`${error.code}: ${error.message}`);
  process.exitCode = 1;
}
