// `/compact`: a summary in the place of the conversation's older part.
import { AppError } from "../util/error.ts";
import type { Command } from "./command.ts";

export const compact: Command = {
  name: "compact",
  summary: "Replace the older part of the conversation by a summary",
  args: "[what the summary should mind]",
  async run({ app, args }) {
    try {
      await app.compact(args === "" ? undefined : args);
      // What came of it is told as it happens.
      return {};
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      if (error.code === "aborted") return { text: "Compaction stopped; the conversation is as it was." };
      return { text: error.message };
    }
  },
};
