// The file tools of the compiled binary: what a model's calls do to files on disk, byte for byte.
import { describe, expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  watch,
  writeFileSync,
} from "node:fs";
import { done, finish, toolCallDeltas } from "../helpers/chat-stream.ts";
import { makePng } from "../helpers/png.ts";
import { type Reply, startReplayServer } from "../helpers/replay-server.ts";
import { binaryPath, runCli, startCli } from "../helpers/run-cli.ts";
import { type TmpDir, tmp } from "../helpers/tmp.ts";

type Call = { name: string; arguments: Record<string, unknown> };

const key = "sk-0123456789abcdef";
const environment = (url: string) => ({ PI_PROVIDER: "openai", OPENAI_API_KEY: key, PI_BASE_URL: url });

/** Lets the model make one call after the other; gives what it was told of each. */
async function runCalls(cwd: string, ...calls: Call[]): Promise<string[]> {
  const turns: Reply[] = calls.map((call, i) => ({ turn: { calls: [{ id: `c${i}`, ...call }] } }));
  await using server = await startReplayServer([...turns, { turn: { text: "done" } }]);
  const result = await runCli(["-p", "--yolo", "go"], { env: environment(server.url), cwd });
  expect([result.code, server.problems]).toEqual([0, []]);
  return server.requests.slice(1).map(({ body }) => body.messages.at(-1).content as string);
}

const edit = (old_string: string, new_string: string, more: object = {}): Call => ({
  name: "edit",
  arguments: { path: "f", old_string, new_string, ...more },
});
const modeOf = (path: string) => (statSync(path).mode & 0o7777).toString(8);

describe("an edit", () => {
  test("puts dollar signs in literally, in one place, in all places and in a list", async () => {
    await using dir = tmp();
    const dollars = "PID=$$ $& $` $' $1 $<n> $0";
    writeFileSync(dir.file("f"), "<X> Y Y Z\n");
    await runCalls(dir.path, edit("X", dollars), edit("Y", dollars, { replace_all: true }), {
      name: "edit",
      arguments: { path: "f", edits: [{ old_string: "Z", new_string: dollars }] },
    });
    expect(readFileSync(dir.file("f"), "utf8")).toBe(`<${dollars}> ${dollars} ${dollars} ${dollars}\n`);
  });

  test.each([
    ["Latin-1", "x = 1\n// caf\xe9\n"],
    ["GBK", "x = 1\n// \xc4\xe3\xba\xc3\n"],
    ["a byte that is none of UTF-8's at the end", "x = 1\n\xff"],
  ])("leaves a file that is not UTF-8 untouched, and says why: %s", async (_, content) => {
    await using dir = tmp();
    writeFileSync(dir.file("f"), content, "latin1");
    const told = await runCalls(dir.path, edit("x = 1", "x = 2"));
    expect(told).toEqual(["Error: f is not valid UTF-8"]);
    expect(readFileSync(dir.file("f"), "latin1")).toBe(content);
  });

  test("and a write leave a file alone when they hold half of a character", async () => {
    await using dir = tmp();
    writeFileSync(dir.file("f"), "a \u{1f600} b\n");
    const [half, whole] = ["\ud83d", "\u{1f600}"];
    const told = await runCalls(
      dir.path,
      edit(half, "x"),
      edit("a", half),
      { name: "edit", arguments: { path: "f", edits: [{ old_string: half, new_string: "x" }] } },
      { name: "write", arguments: { path: "f", content: half } },
      edit(whole, "x"),
    );
    const why = "must not hold half of a surrogate pair (a character cut in two)";
    expect(told).toEqual([
      `Error: invalid arguments for edit: 'old_string' ${why}`,
      `Error: invalid arguments for edit: 'new_string' ${why}`,
      `Error: invalid arguments for edit: 'edits.0.old_string' ${why}`,
      `Error: invalid arguments for write: 'content' ${why}`,
      "Edited f at line 1",
    ]);
    expect(readFileSync(dir.file("f"), "utf8")).toBe("a x b\n");
  });

  test("is refused after a command of the agent's own has changed the file, until it is read again", async () => {
    await using dir = tmp();
    writeFileSync(dir.file("f"), "one\n");
    const read: Call = { name: "read", arguments: { path: "f" } };
    const command: Call = { name: "bash", arguments: { command: "echo two >> f" } };
    const told = await runCalls(dir.path, read, command, edit("one", "1"), read, edit("one", "1"));
    expect(told.slice(2)).toEqual([
      "Error: f changed on disk since you last read it; read it again",
      "     1\tone\n     2\ttwo",
      "Edited f at line 1",
    ]);
  });
});

describe("writing", () => {
  test("keeps the mode and links of what is there, and gives new files what the umask says", async () => {
    await using dir = tmp();
    writeFileSync(dir.file("f"), "echo 1\n");
    chmodSync(dir.file("f"), 0o755);
    mkdirSync(dir.file("real"));
    writeFileSync(dir.file("real/b"), "old");
    symlinkSync("real/b", dir.file("a"));
    const old = process.umask(0o002);
    try {
      await runCalls(
        dir.path,
        edit("1", "2"),
        { name: "write", arguments: { path: "a", content: "new" } },
        { name: "write", arguments: { path: "new/file", content: "x" } },
      );
    } finally {
      process.umask(old);
    }
    expect([readFileSync(dir.file("f"), "utf8"), modeOf(dir.file("f"))]).toEqual(["echo 2\n", "755"]);
    expect([readFileSync(dir.file("real/b"), "utf8"), lstatSync(dir.file("a")).isSymbolicLink()]).toEqual([
      "new",
      true,
    ]);
    expect([modeOf(dir.file("new/file")), modeOf(dir.file("new"))]).toEqual(["664", "775"]);
    expect(readdirSync(dir.path).toSorted()).toEqual(["a", "f", "new", "real"]);
  });

  test("killed at any moment leaves the old content or the new, whole", async () => {
    await using dir = tmp();
    const size = 3_000_000;
    const [older, newer] = ["a".repeat(size), "b".repeat(size)];
    const call = { id: "c", name: "write", arguments: { path: "f", content: newer } };
    const answer = { body: [...toolCallDeltas(call, 0, 500_000), finish("tool_calls"), done] };
    for (let run = 0; run < 5; run++) {
      writeFileSync(dir.file("f"), older);
      await using server = await startReplayServer([answer, "silent"]);
      const written = firstTemporary(dir);
      const cli = startCli(["-p", "--yolo", "go"], { env: environment(server.url), cwd: dir.path });
      await written;
      const until = performance.now() + run * 3 + Math.random() * 3;
      while (performance.now() < until);
      cli.kill("SIGKILL");
      expect((await cli.exited).signal).toBe("SIGKILL");
      const content = readFileSync(dir.file("f"), "utf8");
      expect([content === older, content === newer]).toContain(true);
      for (const name of readdirSync(dir.path).filter((name) => name !== "f")) {
        expect(name).toMatch(/^\.pi-ts-.*\.tmp$/);
        rmSync(dir.file(name));
      }
    }
  }, 20_000);

  const isRoot = process.getuid?.() === 0;
  test.skipIf(isRoot && !Bun.which("setpriv"))(
    "goes into the file itself where its folder is not writable",
    async () => {
      await using dir = tmp();
      mkdirSync(dir.file("work"));
      mkdirSync(dir.file("home"), { mode: 0o777 });
      chmodSync(dir.file("home"), 0o777);
      writeFileSync(dir.file("work/f"), "old text, longer\n");
      chmodSync(dir.file("work/f"), 0o666);
      chmodSync(dir.path, 0o755);
      chmodSync(dir.file("work"), 0o555);
      const turn = { turn: { calls: [{ id: "c", name: "write", arguments: { path: "f", content: "new\n" } }] } };
      await using server = await startReplayServer([turn, { turn: { text: "done" } }]);
      const command = [binaryPath(), "-p", "--yolo", "go"];
      const nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", ...command];
      const child = Bun.spawn(isRoot ? nobody : command, {
        cwd: dir.file("work"),
        env: { PATH: process.env.PATH, HOME: dir.file("home"), ...environment(server.url) },
        stdin: "ignore",
        stdout: "ignore",
        stderr: "ignore",
      });
      expect(await child.exited).toBe(0);
      expect(server.requests[1]?.body.messages.at(-1).content).toBe("Wrote 4 bytes to f");
      expect(readFileSync(dir.file("work/f"), "utf8")).toBe("new\n");
      chmodSync(dir.file("work"), 0o755);
    },
  );
});

/** Resolves when a temporary file appears. */
function firstTemporary(dir: TmpDir): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const watcher = watch(dir.path, (_, name) => name?.startsWith(".pi-ts-") && resolve());
  return promise.finally(() => watcher.close());
}

test("a FIFO is not waited for, and neither is a device", async () => {
  await using dir = tmp();
  execFileSync("mkfifo", [dir.file("f")]);
  const read = (path: string): Call => ({ name: "read", arguments: { path } });
  const write: Call = { name: "write", arguments: { path: "f", content: "x" } };
  expect(await runCalls(dir.path, read("f"), edit("a", "b"), write, read("/dev/zero"), read("/dev/stdin"))).toEqual([
    "Error: f is a FIFO, not a regular file",
    "Error: f is a FIFO, not a regular file",
    "Error: f is a FIFO, not a regular file",
    "Error: /dev/zero is a device, not a regular file",
    "Error: /dev/stdin is a device, not a regular file",
  ]);
});

test("a megabyte in one line does not fill the context, and can be gone on in", async () => {
  await using dir = tmp();
  writeFileSync(dir.file("min.js"), "x".repeat(1_000_000));
  writeFileSync(dir.file("empty"), "");
  const read = (args: object): Call => ({ name: "read", arguments: { path: "min.js", ...args } });
  const [first, next, empty, beyond] = await runCalls(
    dir.path,
    read({ offset: 1, limit: 1 }),
    read({ column: 999_999 }),
    read({ path: "empty" }),
    read({ offset: 2 }),
  );
  expect(first).toBe(
    `     1\t${"x".repeat(2000)}... <line cut: 998000 more of its 1000000 chars; go on with offset 1, column 2001>`,
  );
  expect([next, empty, beyond]).toEqual([
    "     1\txx",
    "empty is empty",
    "offset 2 is beyond the end of min.js (1 line)",
  ]);
});

test("an image that is read reaches a model that takes images, and never as text", async () => {
  await using dir = tmp();
  const png = makePng(3000, 30);
  writeFileSync(dir.file("picture"), png);
  const turn = { turn: { calls: [{ id: "c", name: "read", arguments: { path: "picture" } }] } };
  await using server = await startReplayServer([turn, { turn: { text: "done" } }]);
  const env = { PI_PROVIDER: "anthropic", ANTHROPIC_API_KEY: key, PI_BASE_URL: server.url };
  expect((await runCli(["-p", "--yolo", "go"], { env, cwd: dir.path })).code).toBe(0);
  const [result] = server.requests[1]?.body.messages.at(-1).content ?? [];
  const [text, image] = result.content;
  expect(text.text).toBe(`picture: PNG image, 3000x30, ${png.length} bytes; shown at 2000x20`);
  expect([image.type, image.source.media_type]).toEqual(["image", "image/png"]);
  const shown = Buffer.from(image.source.data, "base64");
  expect(await new Bun.Image(shown).metadata()).toEqual({ width: 2000, height: 20, format: "png" });
});
