// `@file` arguments of the compiled binary: texts and images go along with the task, and what cannot is told before anything is sent.
import { expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { makePng } from "../helpers/png.ts";
import { startPty } from "../helpers/pty.ts";
import { type Reply, refusal, startReplayServer } from "../helpers/replay-server.ts";
import { runCli } from "../helpers/run-cli.ts";
import { tmp } from "../helpers/tmp.ts";

const hello: Reply = { turn: { text: "Hello from the model." } };
const at = (url: string) => ({ PI_PROVIDER: "openai", OPENAI_API_KEY: "sk-test-0123456789abcdef", PI_BASE_URL: url });

async function run(args: readonly string[], stdin?: string) {
  await using dir = tmp();
  writeFileSync(dir.file("a.txt"), "first line\nno line end");
  writeFileSync(dir.file("with blanks.md"), "# Title\n");
  writeFileSync(dir.file("empty"), "");
  writeFileSync(dir.file("shot.png"), makePng(8, 6));
  writeFileSync(dir.file("binary"), Uint8Array.of(1, 0, 2));
  writeFileSync(dir.file("latin1"), Uint8Array.of(0x63, 0xe9));
  writeFileSync(dir.file("large"), "x".repeat(1024 * 1024 + 1));
  mkdirSync(dir.file("folder"));
  Bun.spawnSync(["mkfifo", dir.file("pipe")]);
  await using server = await startReplayServer([hello]);
  const options = { cwd: dir.path, env: at(server.url), ...(stdin === undefined ? {} : { stdin: { text: stdin } }) };
  const result = await runCli(args, options);
  return { ...result, said: server.requests[0]?.body.messages.at(-1).content, requests: server.requests };
}

test.each<[name: string, args: string[], said: string]>([
  ["a text and a task", ["-p", "@a.txt", "sum up"], 'sum up\n\n<file path="a.txt">\nfirst line\nno line end\n</file>'],
  ["behind the task", ["-p", "sum up", "@a.txt"], 'sum up\n\n<file path="a.txt">\nfirst line\nno line end\n</file>'],
  ["alone", ["-p", "@a.txt"], '<file path="a.txt">\nfirst line\nno line end\n</file>'],
  [
    "several, one with blanks in its name and one of nothing",
    ["-p", "@with blanks.md", "go", "@empty"],
    'go\n\n<file path="with blanks.md">\n# Title\n</file>\n\n<file path="empty">\n</file>',
  ],
  ["a task that begins with @, behind --", ["-p", "--", "@nobody", "is", "here"], "@nobody is here"],
  ["a task of several words that begins with @", ["-p", "@nobody is here"], "@nobody is here"],
  ["an @ alone", ["-p", "@", "home"], "@ home"],
])("%s", async (_name, args, said) => {
  const { code, said: sent } = await run(args);
  expect(sent).toBe(said);
  expect(code).toBe(0);
});

test("files come behind piped text too", async () => {
  const { said } = await run(["-p", "compare", "@empty"], "piped\n");
  expect(said).toBe('compare\n\npiped\n\n\n<file path="empty">\n</file>');
});

test("an image goes to a model that takes them", async () => {
  const { said, code } = await run(["-p", "-m", "gpt-4o", "what is it", "@shot.png"]);
  expect(code).toBe(0);
  expect(said).toEqual([
    { type: "text", text: expect.stringMatching(/^what is it\n\n\[shot\.png: PNG image, 8x6, \d+ bytes\]$/) },
    { type: "image_url", image_url: { url: expect.stringMatching(/^data:image\/png;base64,/) } },
  ]);
});

test.each<[args: string[], why: string]>([
  [["@nowhere.txt"], "@nowhere.txt: there is no such file"],
  [["@a.txt", "@nowhere.txt"], "@nowhere.txt: there is no such file"],
  [["@folder"], "@folder is a directory, not a regular file"],
  [["@binary"], "@binary is binary"],
  [["@latin1"], "@latin1 is not valid UTF-8"],
  [["@large"], "@large is too large to send whole: 1048577 bytes"],
  [["@pipe"], "@pipe is a FIFO"],
  [["-m", "gpt-4", "@shot.png"], "@shot.png is an image, and gpt-4 takes none"],
])("%j is a usage error before anything is sent", async (args, why) => {
  const { stderr, code, requests } = await run(["-p", ...args, "go"]);
  expect(stderr).toContain(why);
  expect([code, requests.length]).toEqual([2, 0]);
});

test("the REPL's first task takes its files along, also when it is sent again, and shows only their names", async () => {
  await using dir = tmp();
  writeFileSync(dir.file("a.txt"), "what is in the file\n");
  await using server = await startReplayServer([refusal(400, { error: { message: "not today" } }), hello]);
  await using pty = await startPty(["@a.txt", "sum up"], { env: at(server.url), cwd: dir.path });
  await pty.waitFor("not today");
  await pty.waitFor("> @a.txt sum up");
  pty.write("\r");
  await pty.waitFor("Hello from the model.");
  pty.write("\x04");
  expect(await pty.exited()).toBe(0);
  const said = server.requests.map(({ body }) => body.messages.at(-1).content);
  expect(said).toEqual(Array(2).fill('sum up\n\n<file path="a.txt">\nwhat is in the file\n</file>'));
});
