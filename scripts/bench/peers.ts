// Other coding agents at the same one-shot task: each in a home of its own, pointed at the bench's server as its own documentation says.
import { mkdirSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { measure, type Program, run, type Sample } from "./measure.ts";

export interface Peer {
  readonly name: string;
  /** How many times faster pi-ts wants to be; none is claimed where it is absent. */
  readonly aim?: number;
  /** Its arguments for one answer. */
  readonly args: readonly string[];
  /** What its home must hold and its environment say, for a server whose answers are below `url`. */
  readonly configure: (url: string) => {
    readonly files?: Readonly<Record<string, string>>;
    readonly env?: Readonly<Record<string, string>>;
  };
}

/** Whatever they would ask the internet at their start is switched off where they offer that. */
export const peers: readonly Peer[] = [
  // Its docs/models.md and docs/environment-variables.md.
  {
    name: "pi",
    aim: 12,
    args: ["--provider", "bench", "--model", "bench", "-p", "hi"],
    configure: (url) => ({
      files: {
        ".pi/agent/models.json": JSON.stringify({
          providers: {
            bench: {
              baseUrl: `${url}/v1`,
              api: "openai-completions",
              apiKey: "bench",
              models: [{ id: "bench" }],
            },
          },
        }),
      },
      env: { PI_OFFLINE: "1" },
    }),
  },
  // `model_providers` of its config reference; it speaks the Responses API only.
  {
    name: "codex",
    aim: 12,
    args: ["exec", "--skip-git-repo-check", "hi"],
    configure: (url) => ({
      files: {
        ".codex/config.toml": [
          'model = "bench"',
          'model_provider = "bench"',
          "[analytics]",
          "enabled = false",
          "[model_providers.bench]",
          'name = "bench"',
          `base_url = "${url}/v1"`,
          'env_key = "OPENAI_API_KEY"',
          'wire_api = "responses"',
        ].join("\n"),
      },
      env: { OPENAI_API_KEY: "bench" },
    }),
  },
  // The environment variables of its settings page.
  {
    name: "claude",
    args: ["-p", "hi"],
    configure: (url) => ({
      env: {
        ANTHROPIC_BASE_URL: url,
        ANTHROPIC_API_KEY: "bench",
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      },
    }),
  },
  // A custom provider, as its providers page has it.
  {
    name: "opencode",
    args: ["run", "hi"],
    configure: (url) => ({
      files: {
        ".config/opencode/opencode.json": JSON.stringify({
          model: "bench/bench",
          provider: {
            bench: {
              npm: "@ai-sdk/openai-compatible",
              name: "bench",
              options: { baseURL: `${url}/v1`, apiKey: "bench" },
              models: { bench: { name: "bench" } },
            },
          },
        }),
      },
      env: { OPENCODE_DISABLE_AUTOUPDATE: "1", OPENCODE_DISABLE_MODELS_FETCH: "1" },
    }),
  },
];

const warmUps = 1;
const rounds = 10;
/** A slow one is asked less often. */
const budgetMs = 40_000;
const leastRounds = 3;

/** The folders that programs are looked for in, as a PATH. */
export function searchPath(peersDir: string | undefined): string {
  const own = peersDir === undefined ? [] : [peersDir, join(peersDir, "bin"), join(peersDir, "node_modules/.bin")];
  return [...own, process.env.PATH ?? ""].join(delimiter);
}

export interface PreparedPeer {
  readonly version: string;
  readonly program: Program;
}

/** Finds it, gives it its home in `folder` and tries it once. Throws with the reason when it is not there or gives no answer. */
export function preparePeer(peer: Peer, folder: string, url: string, path: string): PreparedPeer {
  const executable = Bun.which(peer.name, { PATH: path });
  if (!executable) throw new Error("not found");
  const { files = {}, env = {} } = peer.configure(url);
  const home = join(folder, "peers", peer.name);
  const cwd = join(folder, "peers", "project");
  for (const place of [home, cwd]) mkdirSync(place, { recursive: true });
  for (const [name, text] of Object.entries(files)) {
    const file = join(home, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  const all = { PATH: path, HOME: home, ...env };
  const version = /\d+\.\d+\S*/.exec(run({ command: [executable, "--version"], cwd, env: all }))?.[0];
  const program = { command: [executable, ...peer.args], cwd, env: all };
  const output = run(program);
  if (!output.includes("word 2")) throw new Error(`it did not print the answer, but: ${output.slice(-200)}`);
  return { version: version ?? "of an unknown version", program };
}

/** The samples of both, which take turns. */
export function race(
  spawner: string,
  peer: Program,
  subject: Program,
): { readonly peer: Sample[]; readonly subject: Sample[] } {
  const samples = { peer: [] as Sample[], subject: [] as Sample[] };
  const begun = performance.now();
  for (let round = -warmUps; round < rounds; round++) {
    if (round >= leastRounds && performance.now() - begun > budgetMs) break;
    const [theirs, ours] = [measure(spawner, peer), measure(spawner, subject)];
    if (round < 0) continue;
    samples.peer.push(theirs);
    samples.subject.push(ours);
  }
  return samples;
}
