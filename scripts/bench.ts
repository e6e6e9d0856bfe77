// Measures the compiled program against bare compiled programs doing the least for the same job, side by side, as ratios; with `--peers` also
// against other agents. A report, never a verdict: it exits 0 whatever it finds. A new measurement is a row in bench/rows.ts.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { peerLine, reportDecode, reportPeers, reportRpc, reportSize } from "./bench/figures.ts";
import { alternate, type Program, run } from "./bench/measure.ts";
import { type BenchOptions, parseOptions, usage } from "./bench/options.ts";
import { peers as knownPeers, searchPath } from "./bench/peers.ts";
import { printHead, printLine, reportRow } from "./bench/report.ts";
import { quickCommands } from "./bench/repository.ts";
import { defineRows, floodCommand, type Places, type Programs, programNames, type Row } from "./bench/rows.ts";
import { startServer } from "./bench/start-server.ts";
import { buildBinary, compile } from "./build.ts";

/** Where the programs are once they are built. */
async function placePrograms(folder: string): Promise<Programs> {
  const places = programNames.map((name) => [name, join(folder, name)]);
  return Object.fromEntries([...places, ["subject", await buildBinary()]]);
}

/** Builds those that the command lines begin with. */
async function build(programs: Programs, commands: readonly (readonly string[])[]): Promise<void> {
  for (const name of programNames) {
    const path = programs[name];
    if (!commands.some(([first]) => first === path)) continue;
    await compile(join(import.meta.dir, `bench/programs/${name}.ts`), path);
  }
}

/** The environment of a program that is to get this answer. */
function envFor(home: string, origin: string, answer: string | undefined): Record<string, string> {
  return {
    PATH: process.env.PATH ?? "",
    HOME: home,
    PI_TS_HOME: join(home, ".pi-ts"),
    PI_PROVIDER: "openai",
    OPENAI_API_KEY: "bench",
    PI_BASE_URL: `${origin}/${answer}/v1`,
  };
}

function measure(spawner: string, row: Row, floor: Program, subject: Program): void {
  const { toAnswer = (output) => output } = row;
  const [expected, output] = [floor, subject].map(run) as [string, string];
  if (row.answer && !row.floorAnswer && toAnswer(output) !== toAnswer(expected))
    throw new Error(`the answers differ: ${JSON.stringify(output.slice(0, 200))}`);
  const [least, ours] = alternate(spawner, [floor, subject], row.rounds);
  reportRow(row, least!, ours!);
}

async function bench({ only, peers, peersDir }: BenchOptions, home: string): Promise<void> {
  const isWanted = (name: string) => name.includes(only);
  const programs = await placePrograms(home);
  const { subject, empty, echo, spawner } = programs;
  const places: Places = {
    sessions: join(home, "sessions"),
    repository: join(home, "repository"),
    toolOutput: join(home, "tool-output.txt"),
    flood: { file: join(home, "flood.txt"), megabytes: 2000 },
  };
  const rows = defineRows(programs, places).filter(({ name }) => isWanted(name));
  const [rpc, size] = [isWanted("RPC") ? [[echo]] : [], isWanted("size") ? [[empty]] : []];
  await build(programs, [...rows.flatMap((row) => [row.floor, row.subject]), ...rpc, ...size, [spawner]]);
  const server = await startServer({ flood: floodCommand(places), tools: quickCommands });
  const program = (command: readonly string[], answer?: string, cwd = home): Program => ({
    command,
    cwd,
    env: envFor(home, server.origin, answer),
  });
  try {
    printHead();
    for (const row of rows) {
      const cleanUp = row.prepare?.();
      try {
        const floor = program(row.floor, row.floorAnswer ?? row.answer, row.cwd);
        measure(spawner, row, floor, program(row.subject, row.answer, row.cwd));
      } catch (error) {
        printLine({ name: row.name, what: "", floor: `not measured: ${(error as Error).message}` });
      } finally {
        cleanUp?.();
      }
    }
    if (isWanted("RPC")) {
      await reportRpc(program([echo]), program([subject, "--mode", "rpc", "--no-session"], "short"));
    }
    if (isWanted("size")) reportSize(empty, subject);
    if (isWanted("SDK")) reportDecode();
    const wantedPeers = peers ? knownPeers.filter(({ name }) => isWanted(peerLine(name))) : [];
    const task = program([subject, "-p", "hi", "--quiet"], "short");
    reportPeers(wantedPeers, task, { home, url: `${server.origin}/short`, path: searchPath(peersDir), spawner });
  } finally {
    server.stop();
  }
}

async function main(): Promise<void> {
  let options: BenchOptions | "help";
  try {
    options = parseOptions(process.argv.slice(2));
  } catch (error) {
    console.error(`${(error as Error).message}\n${usage}`);
    process.exit(2);
  }
  if (options === "help") {
    console.log(usage);
    return;
  }
  const home = mkdtempSync(join(tmpdir(), "pi-ts-bench-"));
  try {
    await bench(options, home);
  } catch (error) {
    console.error((error as Error).message);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

await main();
