// `/export`: the conversation as a page for a browser.
import type { Command } from "./command.ts";

export const exportPage: Command = {
  name: "export",
  summary: "Write the conversation to an HTML file",
  args: "[file]",
  async run({ app, args }) {
    const { exportOpenSession } = await import("../app/export.ts");
    const { path, bytes } = await exportOpenSession(app.session(), args === "" ? undefined : args);
    return { text: `Written to ${path} (${(bytes / 1000).toFixed(0)} kB).` };
  },
};
