// How full the context was at each answer, as a small chart of bars.
import { grouped } from "../util/numbers.ts";
import type { Conversation } from "./conversation.ts";
import { type Html, html } from "./html.ts";
import { compact, counted } from "./numbers.ts";

/** The context of one answer, in tokens. */
interface Point {
  readonly cached: number;
  /** All of it, the answer included. */
  readonly total: number;
  readonly anchor: string | undefined;
  /** Whether a compaction lies between the point before and this one. */
  readonly compacted: boolean;
}

const height = 100;
const barWidth = 10;
const maxBars = 150;

/** Nothing for fewer than two answers that count. Each bar leads to its answer. */
export function contextChart({ items }: Conversation, anchors: ReadonlyMap<string, string>): Html | undefined {
  const points = toPoints(items, anchors);
  if (points.length < 2) return undefined;
  const bars = thinned(points);
  const most = Math.max(...bars.map(({ total }) => total));
  const last = points.at(-1)?.total ?? 0;
  return html`<figure class="chart">
<figcaption><b>Context</b> <span>${compact(most)} tokens at most, ${compact(last)} at the end, over ${counted(points.length, "answer")}</span>
<span class="legend"><i class="cached"></i> cached <i class="fresh"></i> new <i class="line"></i> compaction</span></figcaption>
<svg viewBox="0 0 ${bars.length * barWidth} ${height}" preserveAspectRatio="none" role="img" aria-label="Size of the context over the answers">
${bars.map((point, index) => bar(point, index, most))}</svg>
</figure>
`;
}

function toPoints(items: Conversation["items"], anchors: ReadonlyMap<string, string>): Point[] {
  const points: Point[] = [];
  let compacted = false;
  for (const { id, entry } of items) {
    if (entry?.type === "compaction") compacted = true;
    if (entry?.type !== "message" || entry.message.role !== "assistant") continue;
    const { input, cacheRead, cacheWrite, output } = entry.message.usage;
    const total = input + cacheRead + cacheWrite + output;
    if (!(total > 0)) continue;
    points.push({ cached: Math.min(cacheRead, total), total, anchor: anchors.get(id), compacted });
    compacted = false;
  }
  return points;
}

/** Of many answers, the fullest of each few. */
function thinned(points: readonly Point[]): Point[] {
  const step = Math.ceil(points.length / maxBars);
  return Array.from({ length: Math.ceil(points.length / step) }, (_, index) => {
    const group = points.slice(index * step, (index + 1) * step);
    const fullest = group.reduce((most, point) => (point.total > most.total ? point : most));
    return { ...fullest, compacted: group.some(({ compacted }) => compacted) };
  });
}

function bar({ cached, total, anchor, compacted }: Point, index: number, most: number): Html {
  const scaled = (tokens: number) => Math.round((tokens / most) * height * 10) / 10;
  const x = index * barWidth;
  const full = Math.max(1, scaled(total));
  const low = Math.min(full, scaled(cached));
  const rects = html`<title>${grouped(total)} tokens, ${grouped(cached)} cached</title><rect class="fresh" x="${x + 1}" y="${height - full}" width="${barWidth - 2}" height="${full - low}"/><rect class="cached" x="${x + 1}" y="${height - low}" width="${barWidth - 2}" height="${low}"/>`;
  const line = compacted && html`<line x1="${x}" x2="${x}" y1="0" y2="${height}"/>`;
  return html`${anchor === undefined ? html`<g>${rects}</g>` : html`<a href="#${anchor}">${rects}</a>`}${line}
`;
}
