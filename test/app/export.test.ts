import { expect, test } from "bun:test";
import { chmodSync, lstatSync, mkdirSync, readdirSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { exportOpenSession, exportSession, pageName } from "../../src/app/export.ts";
import { createMemorySession } from "../../src/session/store.ts";
import { tmp } from "../helpers/tmp.ts";

async function writeSession(path: string): Promise<void> {
  const message = { role: "user", content: "hello", timestamp: 1 };
  const entry = { type: "message", id: "a", parentId: null, timestamp: "2026-11-30T08:15:00.000Z", message };
  const header = { type: "session", version: 3, id: "s1", timestamp: "2026-11-30T08:15:00.000Z", cwd: "/" };
  await Bun.write(path, `${JSON.stringify(header)}\n${JSON.stringify(entry)}\n`);
}

test("a session file becomes a page that its owner alone may read, and that is written over by the next", async () => {
  await using dir = tmp();
  await writeSession(dir.file("s.jsonl"));
  const page = await exportSession(dir.file("s.jsonl"), dir.file("s.html"));
  expect(page).toEqual({ path: dir.file("s.html"), bytes: statSync(dir.file("s.html")).size });
  expect(statSync(page.path).mode & 0o777).toBe(0o600);
  chmodSync(page.path, 0o644);
  await exportSession(dir.file("s.jsonl"), page.path);
  expect(statSync(page.path).mode & 0o777).toBe(0o600);
  expect(await Bun.file(page.path).text()).toEndWith("</html>\n");
  expect(readdirSync(dir.path).sort()).toEqual(["s.html", "s.jsonl"]);
});

test("no folder and no file of another kind is written over, the session's own least of all", async () => {
  await using dir = tmp();
  await writeSession(dir.file("s.jsonl"));
  await Bun.write(dir.file("notes.html"), "<!doctype html>\n<p>mine");
  mkdirSync(dir.file("folder"));
  const before = await Bun.file(dir.file("s.jsonl")).text();
  for (const [outfile, message] of [
    ["folder", `${dir.file("folder")} is a folder`],
    ["notes.html", `${dir.file("notes.html")} is there already, and no exported session`],
    ["s.jsonl", `${dir.file("s.jsonl")} is there already, and no exported session`],
    ["missing/s.html", `There is no folder ${dir.file("missing")}`],
  ] as const) {
    expect(exportSession(dir.file("s.jsonl"), dir.file(outfile))).rejects.toMatchObject({ code: "output", message });
  }
  expect(exportSession("/dev/null", dir.file("x.html"))).rejects.toMatchObject({ code: "session" });
  expect(exportSession(dir.file("nothing"), dir.file("x.html"))).rejects.toMatchObject({ code: "session" });
  expect(await Bun.file(dir.file("s.jsonl")).text()).toBe(before);
});

test("a link is followed and stays", async () => {
  await using dir = tmp();
  await writeSession(dir.file("s.jsonl"));
  symlinkSync("real.html", dir.file("link.html"));
  expect((await exportSession(dir.file("s.jsonl"), dir.file("link.html"))).path).toBe(dir.file("real.html"));
  expect(lstatSync(dir.file("link.html")).isSymbolicLink()).toBe(true);
});

const recorded = join(import.meta.dir, "../fixtures/sessions");

test.each(readdirSync(recorded))("the recorded session %s becomes a page in which nothing is unknown", async (name) => {
  await using dir = tmp();
  const { path } = await exportSession(join(recorded, name), dir.file("s.html"));
  const page = await Bun.file(path).text();
  expect(page).toContain('<article class="message user"');
  expect(page).not.toContain("this version does not know");
  expect(page).not.toContain("could not be read");
});

test("a session that is not stored has a page too", async () => {
  await using dir = tmp();
  const session = createMemorySession("/somewhere", "s1");
  session.append({ type: "message", message: { role: "user", content: "only in memory", timestamp: 1 } });
  const { path } = await exportOpenSession(session, dir.file("s1.html"));
  expect(await Bun.file(path).text()).toContain('<div class="typed">only in memory</div>');
});

test.each([
  ["01a22b85-e45f-7470-abb9-a538482b0181", "01a22b85-e45f-7470-abb9-a538482b0181.html"],
  ["../../etc/x", "_.._etc_x.html"],
  ["a b\n", "a_b_.html"],
])("the page of session %j is %s", (id, name) => {
  expect(pageName(id)).toBe(name);
});
