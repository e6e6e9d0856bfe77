// Sees which functions of a compiled pi-ts a short task runs, and in which order.
import { mkdirSync } from "node:fs";
import { join } from "node:path";

const answer = [
  { choices: [{ index: 0, delta: { role: "assistant", content: "" } }] },
  ...["One", " two", " three"].map((content) => ({ choices: [{ index: 0, delta: { content } }] })),
  { choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
  { choices: [], usage: { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 } },
];
const events = [...answer.map((event) => JSON.stringify(event)), "[DONE]"].map((data) => `data: ${data}\n\n`).join("");

/**
 * Writes what `bun build --bytecode-order` takes to `file`; the task runs in `folder`, with all that it writes, and sees nothing around it.
 * Throws when it fails, takes longer than `limitMs` or is ended by `signal`.
 */
export async function recordOrder(
  program: string,
  file: string,
  folder: string,
  { limitMs = 60_000, signal }: { limitMs?: number; signal?: AbortSignal | undefined } = {},
): Promise<void> {
  // A repository's root, beyond which nothing is looked for: the order is the same wherever it is recorded.
  mkdirSync(join(folder, ".git"), { recursive: true });
  await using server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: () => new Response(events, { headers: { "content-type": "text/event-stream" } }),
  });
  const run = Bun.spawn([program, "-p", "count", "--quiet"], {
    cwd: folder,
    env: {
      HOME: folder,
      PI_PROVIDER: "openai",
      OPENAI_API_KEY: "none",
      PI_BASE_URL: `${server.url.origin}/v1`,
      BUN_BYTECODE_ORDER_OUT: file,
    },
    stdio: ["ignore", "pipe", "pipe"],
    timeout: limitMs,
    ...(signal ? { signal } : {}),
    killSignal: "SIGKILL",
  });
  const [output, errors, code] = await Promise.all([run.stdout.text(), run.stderr.text(), run.exited]);
  if (code !== 0 || output.trim() !== "One two three") {
    const end = run.signalCode === "SIGKILL" ? `did not end within ${limitMs / 1000} s` : `ended with ${code}`;
    throw new Error(`the program just built ${end}\n${output}${errors}`);
  }
}
