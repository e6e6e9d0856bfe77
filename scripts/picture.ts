// The picture of a session in the README: the compiled program works on the demo's project in a real terminal, with the demo's recording in
// the model's place, and what the terminal shows becomes docs/session.svg. `bun run build && bun scripts/picture.ts`
import { mkdirSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createDemoProject, task } from "../src/app/demo.ts";
import { startPty } from "../test/helpers/pty.ts";
import { type Cell, drawScreen } from "../test/helpers/screen.ts";
import { screenToSvg } from "./picture/svg.ts";

const root = join(import.meta.dir, "..");
export const pictureFile = join(root, "docs/session.svg");
const pictureLabel =
  "A session in a terminal: pi-ts is asked to mend a failing test, runs it, edits a file and shows that it passes";
const size = { cols: 108, rows: 60 };

/** Plays the session in `folder`, which must not exist yet, and gives the rows that the terminal shows at its end. */
export async function playSession(folder: string): Promise<Cell[][]> {
  renameSync(createDemoProject(), folder);
  const recording = join(root, "src/providers/replay/demo.jsonl");
  await using pty = await startPty(["-m", "openai/recording", "--replay", recording, task], { ...size, cwd: folder });
  await pty.waitFor(/\[y\/N\/a or why not\] /);
  // The test runs twice, and is allowed for the whole session.
  pty.write("a\r");
  await pty.waitFor((text) => /\n> \r?$/.test(text));
  return drawScreen(pty.output, size.cols, size.rows);
}

if (import.meta.main) {
  const folder = join(tmpdir(), "slug");
  try {
    const rows = await playSession(folder);
    mkdirSync(join(root, "docs"), { recursive: true });
    await Bun.write(pictureFile, screenToSvg(rows, size.cols, pictureLabel));
    console.log(pictureFile);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
