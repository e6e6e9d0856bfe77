// The lines of the table that are no row of two programs: RPC mode, the SDK, the size of the program, the peers.
import { statSync } from "node:fs";
import { measureDecode } from "./decode.ts";
import { type Program, summarize } from "./measure.ts";
import { type Peer, preparePeer, race } from "./peers.ts";
import { printLine, showRatio, showSummary } from "./report.ts";
import { measureRpc, type RpcFigures } from "./rpc.ts";

/** RPC mode beside a program that answers each line with another. */
export async function reportRpc(floor: Program, subject: Program): Promise<void> {
  const [least, ours] = (await measureRpc([floor, subject])) as [RpcFigures, RpcFigures];
  const compare = (name: string, base: readonly number[], values: readonly number[], digits: number) => {
    const [a, b] = [summarize(base), summarize(values)];
    const show = ({ median, min }: typeof a) => `${median.toFixed(digits)} / ${min.toFixed(digits)} ms`;
    printLine({ name, what: "wall", floor: show(a), subject: show(b), ratio: showRatio(b.median, a.median) });
  };
  compare("RPC: first answer", least.first, ours.first, 1);
  compare("RPC: get_state", least.each, ours.each, 3);
  const [slowFloor, slow] = [percentile(least.each, 0.99), percentile(ours.each, 0.99)];
  const show = (value: number) => `${value.toFixed(3)} ms`;
  printLine({
    name: "RPC: get_state, slowest 1 %",
    what: "wall",
    floor: show(slowFloor),
    subject: show(slow),
    ratio: showRatio(slow, slowFloor),
  });
  if (least.idleMb === undefined || ours.idleMb === undefined) return;
  printLine({
    name: "RPC: memory at rest",
    what: "now",
    floor: `${least.idleMb.toFixed(1)} MB`,
    subject: `${ours.idleMb.toFixed(1)} MB`,
    ratio: showRatio(ours.idleMb, least.idleMb),
  });
}

function percentile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? 0;
}

/** The SDK's reading of a streaming answer, in this process. */
export function reportDecode(): void {
  const { lines, bytes } = measureDecode();
  const aim = 1.5;
  const rate = (value: number) => `${Math.round(value / 1000)}k events/s`;
  const report = (name: string, floor: number, value: number, hasAim: boolean) =>
    printLine({
      name,
      what: "rate",
      floor: rate(floor),
      subject: rate(value),
      ratio: showRatio(floor, value),
      ...(hasAim ? { aim: `≤ ${aim}×`, verdict: floor / value <= aim } : {}),
    });
  report("SDK: lines decoded", lines.floor, lines.decoded, true);
  report("SDK: bytes decoded", bytes.floor, bytes.decoded, true);
  report("SDK: bytes validated", bytes.floor, bytes.validated, false);
}

export function reportSize(floor: string, subject: string): void {
  const [least, ours] = [statSync(floor).size, statSync(subject).size];
  const show = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;
  printLine({
    name: "size of the program",
    what: "size",
    floor: show(least),
    subject: show(ours),
    ratio: showRatio(ours, least),
  });
}

export function peerLine(name: string): string {
  return `one-shot: ${name}`;
}

export interface PeerPlaces {
  /** The folder that their homes are made in. */
  readonly home: string;
  /** The server's, for the short answer. */
  readonly url: string;
  /** Where they are looked for. */
  readonly path: string;
  /** What measures them. */
  readonly spawner: string;
}

/** One-shot beside each peer that is found; of one that cannot be measured, why. */
export function reportPeers(peers: readonly Peer[], subject: Program, { home, url, path, spawner }: PeerPlaces): void {
  for (const peer of peers) {
    try {
      const { version, program } = preparePeer(peer, home, url, path);
      const samples = race(spawner, program, subject);
      const [theirs, ours] = [samples.peer, samples.subject].map((side) => summarize(side.map(({ wall }) => wall)));
      const factor = theirs!.median / ours!.median;
      printLine({
        name: `${peerLine(peer.name)} ${version}`,
        what: "wall",
        floor: showSummary(theirs!, "ms"),
        subject: showSummary(ours!, "ms"),
        ratio: `${factor.toFixed(1)}× faster`,
        ...(peer.aim === undefined ? {} : { aim: `≥ ${peer.aim}×`, verdict: factor >= peer.aim }),
      });
    } catch (error) {
      const reason = (error as Error).message.split("\n").slice(0, 3).join(" ").slice(0, 300);
      printLine({ name: peerLine(peer.name), what: "", floor: `not measured: ${reason}` });
    }
  }
}
