// The conversation as a model sees it: roles that only programs know are put into the user's words. Pure.
import type { Message, ModelMessage, UserMessage } from "../protocol/message.ts";

/** Only user, assistant and tool result messages, in order; those already so are the same objects. */
export function toModelMessages(messages: readonly Message[]): ModelMessage[] {
  return messages.flatMap((message) => toModelMessage(message) ?? []);
}

function toModelMessage(message: Message): ModelMessage | undefined {
  switch (message.role) {
    case "user":
    case "assistant":
    case "toolResult":
      return message;
    case "system":
      return undefined;
    case "bashExecution":
      return message.excludeFromContext ? undefined : asUser(describeBash(message), message.timestamp);
    case "custom":
      return { role: "user", content: message.content, timestamp: message.timestamp };
    case "branchSummary":
      return asUser(`Summary of a branch of this conversation that was left:\n\n${message.summary}`, message.timestamp);
    case "compactionSummary":
      return asUser(`Summary of the conversation so far:\n\n${message.summary}`, message.timestamp);
  }
}

function asUser(text: string, timestamp: number): UserMessage {
  return { role: "user", content: [{ type: "text", text }], timestamp };
}

function describeBash(message: Message & { role: "bashExecution" }): string {
  const { command, output, exitCode, cancelled, truncated, fullOutputPath } = message;
  const notes = [
    cancelled ? "(it was cancelled)" : "",
    exitCode !== undefined && exitCode !== 0 ? `(exit code ${exitCode})` : "",
    truncated && fullOutputPath ? `(cut; all of it is in ${fullOutputPath})` : "",
  ].filter((note) => note !== "");
  return [`I ran \`${command}\`:`, "```", output.trimEnd() || "(no output)", "```", ...notes].join("\n");
}
