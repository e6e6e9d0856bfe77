// Drives two agents at once: the same task for two models, both answers when both are there. Ctrl-C ends both.
//   bun two-agents.ts anthropic/claude-sonnet-5-5 openai/gpt-6.2-sol "Which of these files is the oldest?"
import { AgentClient, AgentError } from "pi-ts";

const [first = "sonnet", second = "gpt", task = "What is this project about?"] = process.argv.slice(2);

const stop = new AbortController();
process.once("SIGINT", () => stop.abort());

async function ask(model: string): Promise<string> {
  // Each has a process of its own; with `--no-session` neither leaves a session behind.
  await using agent = await AgentClient.start({ model, args: ["--no-session"] });
  const run = agent.run(task, { signal: stop.signal });
  for await (const event of run) {
    if (event.type === "tool_execution_start") console.error(`${model}: ${event.toolName}`);
  }
  return await run.text();
}

async function report(model: string): Promise<string> {
  try {
    return `## ${model}\n\n${await ask(model)}\n`;
  } catch (error) {
    // Every failure of the SDK's is one of these: no such program, an unknown model, a run that failed, the Ctrl-C.
    if (!(error instanceof AgentError)) throw error;
    process.exitCode = 1;
    return `## ${model}\n\n(no answer: ${error.message})\n`;
  }
}

for (const text of await Promise.all([first, second].map(report))) console.log(text);
