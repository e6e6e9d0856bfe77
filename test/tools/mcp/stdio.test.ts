// Servers as child processes, seen from the transport: what is known of one that does not want to talk.
import { expect, test } from "bun:test";
import { createServerLog } from "../../../src/tools/mcp/server-log.ts";
import { startStdio } from "../../../src/tools/mcp/stdio.ts";
import { isAtWork } from "../../helpers/process-runs.ts";
import { tmp } from "../../helpers/tmp.ts";
import { waitUntil } from "../../helpers/wait-until.ts";

const ping = { jsonrpc: "2.0", id: 1, method: "ping" } as const;

/** The matchers for promises keep the process from hearing of its children in the meantime. */
function fails(promise: Promise<unknown>): Promise<boolean> {
  return promise.then(
    () => false,
    () => true,
  );
}

/** Starts a shell script as a server; its process id goes to stdout as a line that is no message. */
async function startScript(script: string) {
  const dir = tmp();
  const noise = Promise.withResolvers<string>();
  const transport = await startStdio({
    server: { kind: "stdio", command: "sh", args: ["-c", `echo $$; ${script}`], env: {}, cwd: undefined },
    cwd: dir.path,
    env: { PATH: process.env.PATH },
    log: createServerLog(dir.file("log")),
    onNoise: noise.resolve,
  });
  return {
    transport,
    pid: Number(await noise.promise),
    async [Symbol.asyncDispose]() {
      await transport.close();
      await dir[Symbol.asyncDispose]();
    },
  };
}

test("of one that ended at once the exit code and the last words are known, whenever a message finds out", async () => {
  await using script = await startScript("echo 'no database' >&2; exit 3");
  const closed = Promise.withResolvers<void>();
  script.transport.onclose = closed.resolve;
  await script.transport.start();
  // It may be too early to fail.
  await fails(script.transport.send(ping));
  await closed.promise;
  expect(script.transport.reason()).toBe("it ended with exit code 3");
  expect(script.transport.lastWords()).toBe("no database");
});

test.concurrent("one that closes its input and lives on is ended, and that is the reason", async () => {
  await using script = await startScript("exec <&-; echo 'not listening' >&2; exec sleep 300");
  const { transport, pid } = script;
  await transport.start();
  await waitUntil(() => transport.lastWords() !== "", "it has closed its input");
  expect(await fails(transport.send(ping))).toBe(true);
  expect(transport.reason()).toBe("it closed its input");
  expect(isAtWork(pid)).toBe(false);
});

test.concurrent("one that closes its output and lives on is ended, and that is the reason", async () => {
  await using script = await startScript("exec >&-; exec sleep 300");
  const { transport, pid } = script;
  const closed = Promise.withResolvers<void>();
  transport.onclose = closed.resolve;
  await transport.start();
  await closed.promise;
  expect(transport.reason()).toBe("it closed its output");
  await transport.close();
  expect(isAtWork(pid)).toBe(false);
});

test("one that was closed by us has no reason of its own", async () => {
  await using script = await startScript("exec cat > /dev/null");
  await script.transport.start();
  await script.transport.close();
  expect(script.transport.reason()).toBeUndefined();
  expect(isAtWork(script.pid)).toBe(false);
});

test.concurrent("one that prints without the end of a message is ended, and that is the reason", async () => {
  await using script = await startScript("exec cat /dev/zero");
  const closed = Promise.withResolvers<void>();
  script.transport.onclose = closed.resolve;
  await script.transport.start();
  await closed.promise;
  expect(script.transport.reason()).toBe("it printed more than 64 MB without the end of a message");
});
