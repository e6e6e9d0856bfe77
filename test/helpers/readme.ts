// The fenced blocks of the README and of docs/, so that tests can run them as they are written.
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** The blocks of this language under the heading, up to the next heading of any level; `file` is relative to the repository. */
export function readmeBlocks(heading: string, language: string, file = "README.md"): string[] {
  const readme = `\n${readFileSync(join(import.meta.dir, "../..", file), "utf8")}`;
  const start = readme.indexOf(`\n${heading}\n`);
  if (start === -1) throw new Error(`${file} has no heading ${heading}`);
  const rest = readme.slice(start + heading.length + 2);
  // A heading is no line of a block.
  const section = rest.replace(/```[\s\S]*?```/g, (block) => block.replaceAll("\n#", "\n\0")).split(/^#/m)[0]!;
  const blocks = section.replaceAll("\0", "#").matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm);
  return [...blocks].flatMap(([, tag, text]) => (tag === language ? [text!] : []));
}
