// kill -9 at any moment of a run, over and over on one session: what anybody was told of is in the file, and the next run goes on from it.
import { expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { buildContext } from "../../src/protocol/tree.ts";
import { readSessionFile } from "../../src/session/read.ts";
import { chatTurn, textDelta } from "../helpers/chat-stream.ts";
import { type Reply, startReplayServer } from "../helpers/replay-server.ts";
import { type CliProcess, startCli } from "../helpers/run-cli.ts";
import { tmp } from "../helpers/tmp.ts";
import { waitUntil } from "../helpers/wait-until.ts";

const rounds = 16;

test("a run killed at any moment loses nothing that was announced", async () => {
  await using dir = tmp();
  const [home, cwd] = [dir.file("home"), dir.file("work")];
  for (const folder of [home, cwd]) mkdirSync(folder);
  /** What the model or the user has been told, and so must be in the session from then on. */
  const told = new Set<string>();
  let round = 0;
  let asked = 0;

  /** Each run: a call of a tool, then a second one, then an answer in pieces. */
  const script = (request: { body: { messages: { role: string; content: unknown }[] } }): Reply => {
    const text = JSON.stringify(request.body.messages);
    for (const earlier of told) expect(text).toContain(earlier);
    told.add(`task ${round}.`);
    for (const [result] of text.matchAll(/result \d+\.\d\./g)) told.add(result);
    asked++;
    const turn = request.body.messages.slice(request.body.messages.findLastIndex(({ role }) => role === "user")).length;
    if (turn < 3) {
      const command = `echo result ${round}.${turn}. | tee -a log`;
      return { turn: { calls: [{ id: `c${round}-${turn}`, name: "bash", arguments: { command } }] } };
    }
    const [head, ...rest] = chatTurn({ text: `answer ${round}.` });
    return { body: [textDelta(""), head as string, ...rest] };
  };
  await using server = await startReplayServer(script);
  const env = { PI_PROVIDER: "openai", OPENAI_API_KEY: "k", PI_BASE_URL: server.url };

  const folder = join(home, ".pi-ts/sessions", `--${cwd.slice(1).replaceAll("/", "-")}--`);
  const file = () => {
    const name = existsSync(folder) ? readdirSync(folder).find((entry) => entry.endsWith(".jsonl")) : undefined;
    return name === undefined ? undefined : join(folder, name);
  };
  const size = () => statSync(file() ?? "", { throwIfNoEntry: false })?.size ?? 0;

  /** Moments to kill at, each told by something that can be seen from outside. */
  const moments: readonly ((cli: CliProcess, before: { size: number; asked: number }) => Promise<unknown>)[] = [
    (_cli, before) => waitUntil(() => asked > before.asked, "the first request"),
    (cli) => cli.waitFor("→ bash"),
    (_cli, before) => waitUntil(() => asked > before.asked + 1, "the second request"),
    (_cli, before) => waitUntil(() => size() > before.size, "the session grows"),
    (_cli, before) => waitUntil(() => asked > before.asked + 2, "the third request"),
    (_cli, before) => waitUntil(() => size() > before.size + 900 + 97 * round, "the session grows by more"),
    (cli) => cli.waitFor(/→ bash[\s\S]*→ bash/),
    (cli) => cli.waitFor(`answer ${round}.`),
  ];

  for (round = 1; round <= rounds; round++) {
    const before = { size: size(), asked };
    // Without a session to go on in, the first ones begin one.
    const goOn = file() === undefined ? [] : ["--continue"];
    await using cli = startCli(["-p", "--yolo", ...goOn, `task ${round}.`], { home, cwd, env });
    const moment = moments[round % moments.length] as (typeof moments)[number];
    await Promise.race([moment(cli, before), cli.exited]);
    cli.kill("SIGKILL");
    const { stdout, stderr } = await cli.exited;
    expect(stderr).not.toContain("error:");
    if (stdout.includes(`answer ${round}.`)) told.add(`answer ${round}.`);
    const path = file();
    if (path === undefined) continue;
    const { entries, badLines } = readSessionFile(path);
    expect(badLines).toBeLessThanOrEqual(round);
    const context = JSON.stringify(buildContext(entries, entries.at(-1)?.id ?? null).messages);
    for (const text of told) expect(context).toContain(text);
  }

  await using last = startCli(["-p", "--yolo", "--continue", `task ${round}.`], { home, cwd, env });
  const { code, stdout } = await last.exited;
  expect([code, stdout]).toEqual([0, `answer ${round}.\n`]);
  expect(server.problems).toEqual([]);
  expect(readdirSync(folder).filter((name) => name.endsWith(".lock"))).toEqual([]);
  expect(told.size).toBeGreaterThan(rounds);
}, 60_000);
