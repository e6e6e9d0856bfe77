// What a conversation has seen of files, over read, write and edit together.
import { describe, expect, test } from "bun:test";
import {
  appendFileSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { bash } from "../../src/tools/bash.ts";
import { commitFile } from "../../src/tools/commit-file.ts";
import { edit } from "../../src/tools/edit.ts";
import { createFileMemory } from "../../src/tools/file-memory.ts";
import { stampFile, stampOf } from "../../src/tools/file-stamp.ts";
import { read } from "../../src/tools/read.ts";
import type { Tool } from "../../src/tools/tool.ts";
import { write } from "../../src/tools/write.ts";
import { callText, previewText } from "../helpers/call-tool.ts";
import { type TmpDir, tmp } from "../helpers/tmp.ts";

const refusal = "Error: f changed on disk since you last read it; read it again";
const editArgs = { path: "f", old_string: "one", new_string: "1" };
const writeArgs = { path: "f", content: "new\n" };

/** A conversation in `dir`, which holds a file `f`. */
async function converse(dir: TmpDir) {
  await Bun.write(dir.file("f"), "one\ntwo\n");
  const files = createFileMemory();
  return {
    files,
    call: (tool: Tool, args: object) => callText(tool, dir.path, args, { files }),
    preview: (tool: Tool, args: object) => previewText(tool, dir.path, args, files),
    content: () => readFileSync(dir.file("f"), "utf8"),
  };
}

const changes: [string, (path: string, call: (tool: Tool, args: object) => Promise<string>) => unknown][] = [
  ["a line more", (path) => appendFileSync(path, "three\n")],
  [
    "other bytes of the same length, with the time put back",
    (path) => {
      const { atime, mtime } = statSync(path);
      writeFileSync(path, "one\nTWO\n");
      utimesSync(path, atime, mtime);
    },
  ],
  ["a command of the agent's own", (_, call) => call(bash, { command: "sed -i s/two/2/ f" })],
  [
    "another file in its place",
    (path) => Bun.spawnSync(["bash", "-c", 'echo one > "$0.new" && mv "$0.new" "$0"', path]),
  ],
];

describe.each(changes)("a file that changed on disk, by %s,", (_, change) => {
  const seenBy: [string, Tool, object][] = [
    ["read", read, { path: "f" }],
    ["read in part", read, { path: "f", offset: 2, limit: 1 }],
    ["edited", edit, { path: "f", old_string: "two", new_string: "two" + " " }],
    ["written", write, { path: "f", content: "one\ntwo\n" }],
  ];
  test.each(seenBy)(
    "since it was %s, is neither edited nor written over until it is read again",
    async (_how, tool, args) => {
      await using dir = tmp();
      const { call, preview, content } = await converse(dir);
      expect(await call(tool, args)).not.toStartWith("Error");
      await change(dir.file("f"), call);
      const changed = content();
      expect(await call(edit, editArgs)).toBe(refusal);
      expect(await call(write, writeArgs)).toBe(refusal);
      expect(await preview(edit, editArgs)).toBe(refusal);
      expect(await preview(write, writeArgs)).toBe(refusal);
      expect(content()).toBe(changed);
      expect(readdirSync(dir.path)).toEqual(["f"]);
      await call(read, { path: "f", limit: 1 });
      expect(await call(edit, editArgs)).toBe("Edited f at line 1");
      expect(await call(write, writeArgs)).toBe("Wrote 4 bytes to f");
    },
  );
});

describe("no refusal follows", () => {
  test.each([
    ["a touch", "touch -d '2001-01-01' f"],
    ["a checkout of the same content", "cp f g && rm f && mv g f"],
    ["a change that was taken back", "echo x >> f && printf 'one\\ntwo\\n' > f"],
    ["another mode", "chmod 600 f"],
  ])("%s", async (_, command) => {
    await using dir = tmp();
    const { call } = await converse(dir);
    await call(read, { path: "f" });
    Bun.spawnSync(["bash", "-c", command], { cwd: dir.path });
    expect(await call(edit, editArgs)).toBe("Edited f at line 1");
  });

  test("changes of the agent's own, one after the other", async () => {
    await using dir = tmp();
    const { call, content } = await converse(dir);
    await call(read, { path: "f" });
    await call(edit, editArgs);
    await call(edit, { path: "f", old_string: "1", new_string: "one" });
    await call(write, { path: "f", content: "one\n" });
    await call(edit, editArgs);
    expect(content()).toBe("1\n");
  });

  test("a change of a file that was never seen", async () => {
    await using dir = tmp();
    const { call } = await converse(dir);
    await Bun.write(dir.file("g"), "one\n");
    expect(await call(edit, { ...editArgs, path: "g" })).toBe("Edited g at line 1");
  });

  test("an edit that failed, or a preview: neither counts as seeing", async () => {
    await using dir = tmp();
    const { call, preview } = await converse(dir);
    await call(edit, { path: "f", old_string: "nowhere", new_string: "" });
    await preview(edit, editArgs);
    appendFileSync(dir.file("f"), "three\n");
    expect(await call(edit, editArgs)).toBe("Edited f at line 1");
  });

  test("the removal of the file: it can be written anew", async () => {
    await using dir = tmp();
    const { call } = await converse(dir);
    await call(read, { path: "f" });
    rmSync(dir.file("f"));
    expect(await call(write, writeArgs)).toBe("Created f (4 bytes)");
  });
});

test("a file is the same under its name and through a link", async () => {
  await using dir = tmp();
  const { call } = await converse(dir);
  symlinkSync("f", dir.file("link"));
  await call(read, { path: "link" });
  appendFileSync(dir.file("f"), "three\n");
  expect(await call(edit, editArgs)).toBe(refusal);
  await call(read, { path: dir.file("f") });
  expect(await call(edit, { ...editArgs, path: "link" })).toBe("Edited link at line 1");
});

test("what happens to the file until the last moment counts", async () => {
  await using dir = tmp();
  const { files, content } = await converse(dir);
  const { signal } = new AbortController();
  const context = { cwd: dir.path, files, signal };
  const stamp = stampOf(Buffer.from("one\ntwo\n"));
  // The write has begun, and is far from its end when somebody else writes.
  const writing = commitFile(context, "f", new Uint8Array(4_000_000), { stamp });
  writeFileSync(dir.file("f"), "somebody else's\n");
  expect(await writing.catch((error) => error.message)).toBe(refusal.slice("Error: ".length));
  expect(content()).toBe("somebody else's\n");

  const creating = commitFile(context, "g", new Uint8Array(4_000_000), "absent");
  writeFileSync(dir.file("g"), "somebody else's\n");
  expect(await creating.catch((error) => error.message)).toBe(
    "g has just been created by somebody else; read it first",
  );
  expect(readdirSync(dir.path).toSorted()).toEqual(["f", "g"]);
  expect([files.lastSeen(dir.file("f")), files.lastSeen(dir.file("g"))]).toEqual([undefined, undefined]);
});

test("an abort before the last moment leaves the file as it was", async () => {
  await using dir = tmp();
  const { files, content } = await converse(dir);
  const controller = new AbortController();
  const writing = commitFile(
    { cwd: dir.path, files, signal: controller.signal },
    "f",
    new Uint8Array(1_000_000),
    "any",
  );
  controller.abort();
  await expect(writing).rejects.toThrow();
  expect([content(), readdirSync(dir.path)]).toEqual(["one\ntwo\n", ["f"]]);
});

test("a stamp is the content's, and a very large file's is made without reading it", async () => {
  await using dir = tmp();
  await Bun.write(dir.file("a"), "x");
  await Bun.write(dir.file("b"), "x");
  expect(await stampFile(dir.file("a"))).toBe(await stampFile(dir.file("b")));
  expect(await stampFile(dir.file("a"))).toBe(stampOf(Buffer.from("x")));
  expect(await stampFile(dir.file("c"))).toBeUndefined();
  Bun.spawnSync(["truncate", "-s", "3G", dir.file("large")]);
  const before = await stampFile(dir.file("large"));
  expect(await stampFile(dir.file("large"))).toBe(before);
  appendFileSync(dir.file("large"), "x");
  expect(await stampFile(dir.file("large"))).not.toBe(before);
});
