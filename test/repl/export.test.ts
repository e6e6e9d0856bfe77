import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { startReplayServer } from "../helpers/replay-server.ts";
import { tmp } from "../helpers/tmp.ts";
import { openRepl } from "./start-repl.ts";

test("/export writes the conversation to a page in the working directory, or says why not", async () => {
  await using dir = tmp();
  await using server = await startReplayServer([
    { turn: { text: "An **answer**.", usage: { prompt: 10, completion: 5 } } },
  ]);
  await using repl = await openRepl(server, { cwd: dir.path, cols: 200 });
  await repl.ready();
  repl.enter("a question");
  await repl.waitFor("answer");
  await repl.ready();
  repl.enter("/export");
  await repl.waitFor(/Written to \S+\.html \(\d+ kB\)\./);
  const [name = ""] = readdirSync(dir.path);
  expect(name).toMatch(/^[0-9a-f-]{36}\.html$/);
  const page = await Bun.file(dir.file(name)).text();
  expect(page).toContain('<div class="typed">a question</div>');
  expect(page).toContain("<p>An <strong>answer</strong>.</p>");
  expect(page).toContain("10 in · 5 out");
  repl.enter("/export .");
  await repl.waitFor(`${dir.path} is a folder`);
  repl.enter("/export my page.html");
  await repl.waitFor(`${dir.file("my page.html")} (`);
  await repl.ready();
});
