// `pi-ts models`: what the catalog and config.toml know, or what a provider itself lists.
import { listLiveModels, listProviders, type ModelRow } from "../app/models.ts";
import { forReader } from "../modes/show.ts";
import { shortTokens } from "../util/numbers.ts";
import { defineCommand } from "./command.ts";

export const models = defineCommand({
  meta: { name: "models", description: "List models with window, output limit and price" },
  args: {
    search: { type: "positional", required: false, description: "Show only ids that contain this" },
    provider: {
      type: "string",
      alias: "P",
      valueHint: "name",
      complete: "providers",
      description: "Show only this provider's",
    },
    live: { type: "boolean", description: "Ask the provider for its list (needs its key)" },
    help: { type: "boolean", alias: "h", description: "Print this help and exit" },
  },
  async run(args, { io, env, words }) {
    const search = words.join(" ").toLowerCase();
    const providers = args.live ? [await listLiveModels(args.provider, env)] : await listProviders(args.provider, env);
    const lists = providers.map(({ name, models, defaultModel }) => {
      const rows = models.filter(({ id }) => id.toLowerCase().includes(search));
      return formatModels(name, defaultModel, rows);
    });
    const text = lists.join("");
    io.stdout(forReader(text, io));
    if (text === "") io.stderr(search === "" ? "There are no models.\n" : `No model has '${search}' in its id.\n`);
    return 0;
  },
});

function formatModels(provider: string, defaultModel: string | undefined, rows: readonly ModelRow[]): string {
  if (rows.length === 0) return "";
  const width = Math.max(...rows.map(({ id }) => id.length));
  const lines = rows.map((row) => {
    const mark = row.id === defaultModel ? " (default)" : "";
    const facts = [
      row.contextWindow ? `window ${shortTokens(row.contextWindow)}` : "",
      row.maxTokens ? `output ${shortTokens(row.maxTokens)}` : "",
      row.cost ? `$${row.cost.input} in, $${row.cost.output} out per million` : "",
    ].filter((fact) => fact !== "");
    return `  ${row.id.padEnd(width)}  ${facts.join("  ")}${mark}`.trimEnd();
  });
  return `${provider}\n${lines.join("\n")}\n`;
}
