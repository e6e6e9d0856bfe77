// What the scripts ask for while somebody types: values that configuration files and the stored sessions know.
import { findMcpServers } from "../../app/mcp.ts";
import { listProviders } from "../../app/models.ts";
import { builtinToolNames } from "../../app/permissions.ts";
import { listStored, timeOf, titleOf } from "../../app/stored-sessions.ts";
import { thinkingLevels } from "../../protocol/thinking-level.ts";
import type { Environment } from "../../util/environment.ts";
import { resolvePath } from "../../util/paths.ts";
import { visibleLine } from "../../util/sanitize.ts";
import type { ValueSource } from "../parse-args.ts";

export const valueSources = [
  "providers",
  "models",
  "fallbacks",
  "sessions",
  "tools",
  "mcp-servers",
] as const satisfies readonly ValueSource[];

export interface Candidate {
  /** In the place of the whole word. */
  readonly value: string;
  readonly note: string;
}

interface Place {
  readonly env: Environment;
  readonly cwd: string;
  /** The words of the line before it. */
  readonly before: readonly string[];
}

function isList(source: ValueSource): boolean {
  return source === "models" || source === "fallbacks" || source === "tools";
}

/** What `word` can become. A list goes on behind its last comma, a model with its provider in front, or with a thinking level behind. */
export async function listValues(source: ValueSource, word: string, place: Place): Promise<Candidate[]> {
  const start = isList(source) ? word.lastIndexOf(",") + 1 : 0;
  const [list, item] = [word.slice(0, start), word.slice(start)];
  const candidates = await sources[source](item, place);
  return candidates
    .filter(({ value }) => value.startsWith(item) && !/\s/.test(value))
    .map(({ value, note }) => ({ value: visibleLine(list + value), note: visibleLine(note) }));
}

const sources: Readonly<Record<ValueSource, (item: string, place: Place) => Promise<Candidate[]>>> = {
  async providers(_item, { env }) {
    const providers = await listProviders(undefined, env);
    return providers.map(({ name, defaultModel }) => ({ value: name, note: defaultModel ?? "" }));
  },

  async models(item, { env }) {
    const providers = await listProviders(undefined, env);
    const all = providers.flatMap(({ name, models }) => models.map(({ id }) => ({ value: id, note: name })));
    const level = item.lastIndexOf(":");
    if (level > 0 && !all.some(({ value }) => value.startsWith(item))) {
      return thinkingLevels.map((name) => ({ value: `${item.slice(0, level)}:${name}`, note: "thinking level" }));
    }
    const isQualified = item.includes("/") && providers.some(({ name }) => item.startsWith(`${name}/`));
    return isQualified ? all.map(({ value, note }) => ({ value: `${note}/${value}`, note: "" })) : all;
  },

  /** Only as `provider/model`, and without a level. */
  async fallbacks(_item, { env }) {
    const providers = await listProviders(undefined, env);
    return providers.flatMap(({ name, models }) => models.map(({ id }) => ({ value: `${name}/${id}`, note: "" })));
  },

  async sessions(_item, { env, cwd, before }) {
    return listStored({ env, cwd, sessionDir: pathIn(before, "--session-dir", cwd) }, true).map((summary) => ({
      value: summary.id,
      note: `${timeOf(summary.modified)}  ${titleOf(summary)}`,
    }));
  },

  async tools() {
    return builtinToolNames().map((value) => ({ value, note: "" }));
  },

  async "mcp-servers"(_item, { env, cwd }) {
    const servers = await findMcpServers({ cwd, env, trust: undefined, files: [], notify: () => {} });
    return servers.map(({ name, source }) => ({ value: name, note: source }));
  },
};

/** What a line gives a flag, the last of several. A shell would have put the home directory in the place of a word's `~`. */
function pathIn(words: readonly string[], flag: string, cwd: string): string | undefined {
  const i = words.findLastIndex((word) => word === flag || word.startsWith(`${flag}=`));
  const next = words[i + 1];
  return words[i] === flag ? next && resolvePath(cwd, next) : words[i]?.slice(flag.length + 1);
}
