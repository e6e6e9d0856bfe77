// `/thinking`: how much the model thinks before it answers.
import { thinkingLevelsOf } from "../app/model-choice.ts";
import type { Command } from "./command.ts";

export const thinking: Command = {
  name: "thinking",
  args: "[level]",
  summary: "Change how much the model thinks, or show it",
  run({ app, args }) {
    const { model } = app.config;
    const levels = thinkingLevelsOf(model);
    const name = `${model.provider}/${model.id}`;
    if (!model.reasoning) return { text: `${name} does not think.` };
    if (args === "") {
      const now = app.config.thinkingLevel === undefined ? "left to the model" : app.thinkingLevel();
      return { text: `Thinking: ${now}\n  ${name} knows ${levels.join(", ")}.` };
    }
    const level = levels.find((known) => known === args);
    if (level === undefined) return { text: `${name} does not know '${args}', but ${levels.join(", ")}.` };
    app.setThinkingLevel(level);
    return { text: `Thinking: ${app.thinkingLevel()}` };
  },
};
