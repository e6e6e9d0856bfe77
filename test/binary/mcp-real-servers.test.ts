// Two servers that others wrote, the reference ones, over stdio and over HTTP, with the compiled binary.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { freePort } from "../helpers/free-port.ts";
import { call, fromServers, runWithServers } from "../helpers/mcp-run.ts";
import { tmp } from "../helpers/tmp.ts";

const modules = resolve(import.meta.dir, "../../node_modules/@modelcontextprotocol");
/** They are written for Node; Bun runs them as well where that is missing. */
const runtime = Bun.which("node") ?? process.execPath;
/** Node takes its time, on a busy machine above all. */
const patience = 30_000;
const everything = { command: runtime, args: [`${modules}/server-everything/dist/index.js`] };

test(
  "the model writes, edits and reads files by the filesystem server, and they are on disk",
  async () => {
    await using dir = tmp();
    const folder = dir.file("shared");
    mkdirSync(folder);
    writeFileSync(`${folder}/old.txt`, "one two three\n");
    const files = { command: runtime, args: [`${modules}/server-filesystem/dist/index.js`, folder] };
    const { told, code, stdout, stderr } = await runWithServers({
      timeout: patience,
      servers: { files },
      flags: ["-p", "--allow", "mcp__files__*"],
      turns: [
        [call("mcp__files__write_file", { path: `${folder}/größe.txt`, content: "Hällo 🌍\n" })],
        [call("mcp__files__edit_file", { path: `${folder}/old.txt`, edits: [{ oldText: "two", newText: "2" }] })],
        [call("mcp__files__read_text_file", { path: `${folder}/größe.txt` })],
        [call("mcp__files__read_text_file", { path: "/etc/passwd" })],
      ],
    });
    expect(readFileSync(`${folder}/größe.txt`, "utf8")).toBe("Hällo 🌍\n");
    expect(readFileSync(`${folder}/old.txt`, "utf8")).toBe("one 2 three\n");
    expect(told[0]).toContain("Successfully wrote");
    expect(told[2]).toBe("Hällo 🌍\n");
    expect(told[3]).toStartWith("Error: ");
    expect(told[3]).toContain("Access denied");
    expect({ code, stdout }).toEqual({ code: 0, stdout: "done\n" });
    expect(stderr).not.toContain("left out");
  },
  patience,
);

/** What the everything server is asked, and what comes of it. */
async function askEverything(table: Readonly<Record<string, unknown>>) {
  const run = await runWithServers({
    timeout: patience,
    servers: { all: table },
    turns: [
      [
        call("mcp__all__echo", { message: "hello" }),
        call("mcp__all__get-sum", { a: 2, b: 3 }),
        call("mcp__all__get-structured-content", { location: "Chicago" }),
        call("mcp__all__get-tiny-image"),
        call("mcp__all__get-resource-links", { count: 2 }),
        call("mcp__all__trigger-long-running-operation", { duration: 0.6, steps: 3 }),
        call("mcp__all__get-sum", { a: "two" }),
      ],
    ],
  });
  const [echo, sum, structured, image, links, long, wrong] = run.told;
  expect(echo).toBe("Echo: hello");
  expect(sum).toContain("5");
  expect(JSON.parse(structured ?? "")).toMatchObject({
    conditions: expect.any(String),
    temperature: expect.any(Number),
  });
  expect(image).not.toContain("iVBOR");
  expect(run.requests[1]?.text).toContain("data:image/png;base64,");
  expect(links).toContain("demo://");
  expect(long).toContain("Long running operation completed");
  expect(wrong).toStartWith("Error: ");
  expect(run.stderr).not.toContain("left out");
  expect(fromServers(run.offered).length).toBeGreaterThan(8);
  return run;
}

describe("the everything server", () => {
  test(
    "over stdio: texts, numbers, structured content, pictures, links, progress and errors",
    async () => {
      await askEverything({ ...everything, call_timeout: 15 });
    },
    patience,
  );

  describe("over HTTP", () => {
    let server: Bun.Subprocess<"ignore", "ignore", "pipe"> | undefined;
    let url = "";
    beforeAll(async () => {
      const port = await freePort();
      server = Bun.spawn([everything.command, ...everything.args, "streamableHttp"], {
        env: { ...process.env, PORT: String(port) },
        stdio: ["ignore", "ignore", "pipe"],
      });
      // It says on stderr when it listens.
      for await (const _ of server.stderr) break;
      url = `http://127.0.0.1:${port}/mcp`;
    }, patience);
    afterAll(async () => {
      server?.kill("SIGKILL");
      await server?.exited;
    });

    test(
      "the same",
      async () => {
        await askEverything({ url, call_timeout: 15 });
      },
      patience,
    );
  });
});
