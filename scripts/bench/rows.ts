// What is measured: each row is pi-ts at a job beside a bare compiled program that does the least for the same job.
import { appendFileSync, rmSync } from "node:fs";
import type { Quantity } from "./measure.ts";
import { prepareRepository, quickCommands, toShellScript } from "./repository.ts";
import { sessionPath, writeSession } from "./sessions.ts";

export interface Row {
  readonly name: string;
  readonly floor: readonly string[];
  readonly subject: readonly string[];
  /** Which of the server's answers both get; the floor another one where `floorAnswer` says so, and then they need not print the same. */
  readonly answer?: string;
  readonly floorAnswer?: string;
  /** What must be the same of what both print; all of it unless told. */
  readonly toAnswer?: (output: string) => string;
  readonly rounds: number;
  /** Where both run; the bench's empty home unless told. */
  readonly cwd?: string;
  /** What flows through in megabytes, for a row that is also about throughput. */
  readonly megabytes?: number;
  /** The largest ratio wanted, for each quantity worth comparing. */
  readonly aims: Partial<Record<Quantity, number>>;
  /** What counts for the subject alone: at least so many megabytes a second, at most so much peak memory in MiB and wall time in ms. */
  readonly limits?: { readonly rate?: number; readonly peak?: number; readonly wall?: number };
  /** Makes what both need, right before they are measured; the result takes it away. */
  readonly prepare?: () => () => void;
}

export const programNames = ["empty", "stream", "aborts", "flood", "parse", "echo", "spawner"] as const;
/** Where each is. */
export type Programs = Readonly<Record<(typeof programNames)[number] | "subject", string>>;

export interface Places {
  readonly sessions: string;
  readonly repository: string;
  /** What the ten commands of the floor print goes there. */
  readonly toolOutput: string;
  /** Where it is and how much its command prints. */
  readonly flood: { readonly file: string; readonly megabytes: number };
}

export function defineRows({ empty, stream, aborts, flood, parse, subject }: Programs, places: Places): readonly Row[] {
  const ask = [subject, "-p", "hi", "--quiet"];
  // A window that a megabyte fits into.
  const askWithRoom = [...ask, "-m", "gpt-5.4-pro"];
  const { sessions } = places;
  const resume = (name: string, compacted: boolean) => {
    const path = sessionPath(sessions, name);
    const prepare = () => {
      writeSession(sessions, name, 57_000_000, { compacted });
      return () => rmSync(sessions, { recursive: true });
    };
    return { subject: [...ask, "--resume", path], path, prepare };
  };
  const [compacted, whole] = [resume("long", true), resume("whole", false)];
  return [
    { name: "start: --version", floor: [empty], subject: [subject, "--version"], rounds: 40, aims: { wall: 1.2 } },
    { name: "start: --help", floor: [empty], subject: [subject, "--help"], rounds: 40, aims: { wall: 1.2 } },
    { name: "one-shot answer", floor: [stream], subject: ask, answer: "short", rounds: 40, aims: { wall: 1.5 } },
    // A shell that spawns the same ten commands, each by a bash of its own; pi-ts also asks eleven times what to do.
    {
      name: "ten tool turns",
      floor: ["sh", "-c", toShellScript(quickCommands, places.toolOutput)],
      floorAnswer: "short",
      subject: [...ask, "--yolo"],
      answer: "tools",
      cwd: places.repository,
      prepare: () => {
        prepareRepository(places.repository);
        return () => rmSync(places.repository, { recursive: true });
      },
      rounds: 20,
      aims: { wall: 2 },
    },
    {
      name: "20,000 deltas, print",
      floor: [stream],
      subject: ask,
      answer: "long",
      rounds: 15,
      aims: { wall: 1.5, peak: 1.5 },
    },
    {
      name: "20,000 deltas, JSON",
      floor: [stream, "--json"],
      subject: [subject, "--mode", "json", "hi"],
      answer: "long",
      toAnswer: joinDeltas,
      rounds: 15,
      aims: { wall: 1.5, peak: 1.5 },
    },
    // Four times as much may take four times as long: a `write` call whose arguments come in fragments of 20 bytes.
    {
      name: "1 MB of arguments / ¼ MB",
      floor: askWithRoom,
      floorAnswer: "arguments-256k",
      subject: askWithRoom,
      answer: "arguments-1m",
      rounds: 10,
      aims: { wall: 4, peak: 4 },
    },
    // The same program after 50 and after 550 answers given up in the middle.
    {
      name: "550 aborted streams / 50",
      floor: [aborts, "50"],
      subject: [aborts, "550"],
      floorAnswer: "endless",
      answer: "endless",
      rounds: 3,
      aims: { peak: 1.2 },
    },
    // A command whose output is far more than a result can hold: read, looked at, counted and dropped. The floor only reads.
    {
      name: "bash flood, 2 GB",
      floor: [flood, floodCommand(places)],
      floorAnswer: "short",
      subject: [...ask, "--yolo"],
      answer: "flood",
      rounds: 3,
      megabytes: places.flood.megabytes,
      aims: { wall: 2 },
      limits: { rate: 500, peak: 120 },
      prepare: () => prepareFlood(places),
    },
    {
      name: "listing 1,000 MB of sessions",
      floor: [empty],
      subject: [subject, "sessions", "list", "--session-dir", sessions],
      rounds: 10,
      aims: {},
      limits: { wall: 500 },
      prepare: () => {
        for (let i = 0; i < 1000; i++) writeSession(sessions, `session-${i}`, 1_000_000, { compacted: true });
        return () => rmSync(sessions, { recursive: true });
      },
    },
    // The floor reads the file and parses its lines.
    {
      name: "going on in 57 MB",
      floor: [parse, compacted.path],
      floorAnswer: "short",
      subject: compacted.subject,
      answer: "short",
      rounds: 10,
      aims: { wall: 2, peak: 2 },
      limits: { wall: 1500, peak: 300 },
      prepare: compacted.prepare,
    },
    // Here all of it is sent, as it is by the floor; left to itself pi-ts would compact it first, and the next round's session would be another.
    {
      name: "… never compacted, all sent",
      floor: [parse, whole.path, "--send"],
      floorAnswer: "short",
      subject: [...whole.subject, "--no-auto-compact"],
      answer: "short",
      rounds: 3,
      aims: { wall: 2, peak: 2 },
      prepare: whole.prepare,
    },
  ];
}

/** What `cat` prints twenty times: one writer, faster than anything reads. */
export function floodCommand({ flood }: Places): string {
  return `for i in {1..20}; do cat ${flood.file}; done`;
}

function prepareFlood({ flood }: Places): () => void {
  const megabyte = `${"x".repeat(79)}\n`.repeat(12_500);
  for (let size = 0; size < flood.megabytes / 20; size++) appendFileSync(flood.file, megabyte);
  return () => rmSync(flood.file);
}

/** The text of an answer from its events in JSON mode. */
function joinDeltas(output: string): string {
  const records = output.split("\n").map((line) => JSON.parse(line));
  return records.map((record) => record.assistantMessageEvent?.delta ?? "").join("");
}
