// The search tools in the compiled binary, whose parts are loaded with the first call.
import { expect, test } from "bun:test";
import { startReplayServer } from "../helpers/replay-server.ts";
import { runCli } from "../helpers/run-cli.ts";
import { plant } from "../helpers/tree.ts";

test("grep, find and ls need no yes inside of the working directory, and a yes outside of it, links resolved", async () => {
  await using outside = plant({ "secret.txt": "needle\n" });
  await using dir = plant({
    "src/a.ts": "the needle\n",
    ".gitignore": "dist\n",
    "dist/b.ts": "needle\n",
    out: { link: outside.path },
  });
  const call = (id: string, name: string, args: Record<string, unknown>) => ({ id, name, arguments: args });
  await using server = await startReplayServer([
    {
      turn: {
        calls: [
          call("c1", "grep", { pattern: "n[e]+dle" }),
          call("c2", "find", { pattern: "*.ts" }),
          call("c3", "ls", {}),
          call("c4", "grep", { pattern: "needle", path: "out" }),
          call("c5", "ls", { path: ".." }),
        ],
      },
    },
    { turn: { text: "Done." } },
  ]);
  const env = { PI_PROVIDER: "openai", OPENAI_API_KEY: "sk-test-0123456789abcdef", PI_BASE_URL: server.url };
  const result = await runCli(["-p", "look"], { env, cwd: dir.path });
  expect(result.code).toBe(0);
  const messages: { role: string; content: string }[] = server.requests[1]?.body.messages;
  const results = messages.filter(({ role }) => role === "tool").map(({ content }) => content);
  expect(results.slice(0, 3)).toEqual([
    "src/a.ts:1: the needle",
    "src/a.ts",
    `.gitignore\ndist/ (ignored)\nout -> ${outside.path}\nsrc/`,
  ]);
  expect(results[3]).toContain(outside.path);
  expect(results[3]).not.toContain("secret.txt");
  expect(results[4]).toStartWith("Error: ");
  expect(server.problems).toEqual([]);
});
