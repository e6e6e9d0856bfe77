// The edit line: editing, history, commands, and leaving.
import { expect, test } from "bun:test";
import { readFileSync, statSync } from "node:fs";
import { startReplayServer } from "../helpers/replay-server.ts";
import { tmp } from "../helpers/tmp.ts";
import { conversation, openRepl } from "./start-repl.ts";

const echo = async () => ({ turn: { text: "Heard.", usage: { prompt: 1000, completion: 200, cached: 400 } } });

test("Ctrl-C discards the input; on an empty line it says how to leave", async () => {
  await using server = await startReplayServer(echo);
  await using repl = await openRepl(server);
  await repl.ready();
  repl.write("never mind");
  await repl.lastRow("> never mind");
  repl.write("\x03");
  await repl.ready();
  repl.write("\x03");
  await repl.waitFor("Ctrl-D or /exit leaves");
  await repl.ready();
  repl.write("\x04");
  expect(await repl.exited()).toBe(0);
  expect(server.requests).toHaveLength(0);
});

test("/exit leaves with 0", async () => {
  await using server = await startReplayServer(echo);
  await using repl = await openRepl(server);
  await repl.ready();
  repl.enter("/exit");
  expect(await repl.exited()).toBe(0);
});

test("commands: /help, /tokens, /clear, an unknown one, and a path that is none", async () => {
  await using server = await startReplayServer(echo);
  await using repl = await openRepl(server);
  await repl.ready();
  repl.enter("/help");
  for (const name of ["/clear", "/tokens", "/help", "/exit"]) await repl.waitFor(name);
  await repl.ready();
  repl.enter("one");
  await repl.waitFor("Heard.");
  await repl.ready();
  repl.enter("/tokens");
  await repl.waitFor(/last answer +1,000 +400 +200 +\$0\.0\d+\r?\nconversation +1,000 +400 +200 +\$0\.0/);
  await repl.ready();
  repl.enter("/claer");
  await repl.waitFor("Did you mean /clear?");
  await repl.ready();
  repl.enter("/clear");
  await repl.waitFor("forgotten");
  await repl.ready();
  repl.enter("/etc/hosts is a path");
  await repl.waitFor("Heard.");
  await repl.ready();
  repl.enter(" /clear is a command");
  await repl.waitFor("Heard.");
  expect(server.requests).toHaveLength(3);
  expect(conversation(server.requests[1]?.body)).toEqual(["user: /etc/hosts is a path"]);
  expect(server.requests[1]?.body.messages[0]).toEqual(server.requests[0]?.body.messages[0]);
  expect(conversation(server.requests[2]?.body).at(-1)).toBe("user:  /clear is a command");
  expect(server.problems).toEqual([]);
});

test("a pasted text is one input, whatever its lines", async () => {
  await using server = await startReplayServer(echo);
  await using repl = await openRepl(server);
  await repl.ready();
  repl.write("\x1b[200~one\r\ntwo\rthree\x1b[201~");
  await repl.lastRow("  three");
  repl.write("\r");
  await repl.waitFor("Heard.");
  expect(conversation(server.requests[0]?.body)).toEqual(["user: one\ntwo\nthree"]);
});

test("keys edit text of wide characters over several rows, through a resize", async () => {
  await using server = await startReplayServer(echo);
  await using repl = await openRepl(server, { cols: 20 });
  await repl.ready();
  repl.write("你好世界你好世界你👩‍👩‍👧");
  await repl.lastRow("  👩‍👩‍👧");
  repl.write("\x7f\x1b[D\x1b[D\x7f\x01>\x05!");
  await repl.lastRow("> >你好世界你好界你!");
  repl.write("more");
  await repl.lastRow("  more");
  repl.resize(60, 24);
  await repl.lastRow("> >你好世界你好界你!more");
  repl.write("\r");
  await repl.waitFor("Heard.");
  expect(conversation(server.requests[0]?.body)).toEqual(["user: >你好世界你好界你!more"]);
});

test("Tab completes commands", async () => {
  await using server = await startReplayServer(echo);
  await using repl = await openRepl(server);
  await repl.ready();
  repl.write("/to\t");
  await repl.lastRow("> /tokens");
  repl.write("\x15/ex\t");
  await repl.waitFor(/\/ex\w+ {2}\/ex\w+/);
  await repl.lastRow("> /ex");
});

test("the commands that Tab finds are listed with none of their names cut", async () => {
  await using server = await startReplayServer(echo);
  await using repl = await openRepl(server, { cols: 20 });
  await repl.ready();
  repl.write("/\t");
  await repl.lastRow("> /");
  expect(repl.screen()).toContain("/resume  /name");
});

test("inputs are kept for the next process, for the owner's eyes only", async () => {
  await using dir = tmp();
  await using server = await startReplayServer(echo);
  {
    await using repl = await openRepl(server, { home: dir.path });
    await repl.ready();
    repl.write("\x1b[200~two\nlines\x1b[201~\r");
    await repl.waitFor("Heard.");
    await repl.ready();
    repl.enter("/help");
    await repl.ready();
    repl.enter("/help");
    await repl.ready();
    repl.write("\x04");
    await repl.exited();
  }
  expect(statSync(dir.file(".pi-ts/history")).mode & 0o777).toBe(0o600);
  expect(statSync(dir.file(".pi-ts")).mode & 0o777).toBe(0o700);
  expect(readFileSync(dir.file(".pi-ts/history"), "utf8")).toBe('"two\\nlines"\n"/help"\n');
  await using repl = await openRepl(server, { home: dir.path });
  await repl.ready();
  repl.write("\x1b[A");
  await repl.lastRow("> /help");
  repl.write("\x1b[A");
  await repl.lastRow("  lines");
  repl.write("\r");
  await repl.waitFor("Heard.");
  expect(conversation(server.requests[1]?.body)).toEqual(["user: two\nlines"]);
});
