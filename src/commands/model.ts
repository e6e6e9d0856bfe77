// `/model`: which model answers from the next message on.
import { isExactly, isSame } from "../app/model-choice.ts";
import type { Model } from "../protocol/model.ts";
import { shortTokens } from "../util/numbers.ts";
import type { Command, CommandContext, CommandResult } from "./command.ts";

export const model: Command = {
  name: "model",
  args: "[id]",
  summary: "Change to another model: by its id, a part of it, or from a list",
  async run(context) {
    const { app, args } = context;
    const models = await app.models();
    const [found, ...more] = findModels(models, args, app.config.model);
    if (!found)
      return { text: `No model has '${args}' in its name.\n  /model alone lists those whose provider has a key.` };
    return more.length === 0 ? change(context, found) : pick(context, [found, ...more]);
  },
};

/** Those that the text means: the very one, of the present provider before others, or all that have it in their names. */
function findModels(models: readonly Model[], text: string, current: Model): readonly Model[] {
  const named = models.filter((model) => isExactly(model, text));
  const own = named.filter(({ provider }) => provider === current.provider);
  if (own.length > 0) return own;
  if (named.length > 0) return named;
  return models.filter((model) => nameOf(model).toLowerCase().includes(text.toLowerCase()));
}

async function pick(context: CommandContext, models: readonly Model[]): Promise<CommandResult> {
  const width = Math.max(...models.map((model) => nameOf(model).length));
  const rows = models.map((model) => {
    const now = isSame(model, context.app.config.model) ? "  now" : "";
    return `${nameOf(model).padEnd(width)}  window ${shortTokens(model.contextWindow)}${now}`;
  });
  const position = await context.ui.pick("Models whose provider has a key", rows);
  const picked = position === undefined ? undefined : models[position];
  return picked ? change(context, picked) : { text: "The model stays as it is." };
}

async function change({ app }: CommandContext, model: Model): Promise<CommandResult> {
  const { provider, id } = await app.setModel(model.provider, model.id);
  return { text: `${provider}/${id} answers from now on.` };
}

function nameOf({ provider, id }: Model): string {
  return `${provider}/${id}`;
}
