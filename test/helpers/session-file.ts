// Session files for tests: lines of messages as the program writes them.
import { readFileSync } from "node:fs";
import { createSession } from "../../src/session/store.ts";
import { assistant, user } from "./messages.ts";

/** Writes a session of so many exchanges (`question 1 …`, `answer 1 …`) and gives its path; it is closed. */
export function writeSession(
  root: string,
  cwd: string,
  exchanges: number,
  options: { id?: string; name?: string } = {},
) {
  const session = createSession({ root, cwd, id: options.id });
  session.append({ type: "model_change", provider: "openai", modelId: "test-model" });
  if (options.name !== undefined) session.append({ type: "session_info", name: options.name });
  for (let i = 1; i <= exchanges; i++) {
    session.append({ type: "message", message: user(`question ${i} ü北🌍`) });
    session.append({ type: "message", message: assistant([`answer ${i} ü北🌍`]) });
  }
  session.close();
  return { path: session.path as string, id: session.id };
}

export function linesOf(path: string): string[] {
  return readFileSync(path, "utf8").split("\n").filter(Boolean);
}
