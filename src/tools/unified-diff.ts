// A change as a person reads it before approving: a unified diff in which nothing is left out.

/** After this time a plain "all out, all in" takes the place of the shortest diff. */
const timeoutMs = 1000;

export async function unifiedDiff(oldName: string, newName: string, before: string, after: string): Promise<string> {
  const { createTwoFilesPatch, FILE_HEADERS_ONLY } = await import("diff");
  const options = { context: 3, headerOptions: FILE_HEADERS_ONLY };
  const patch = createTwoFilesPatch(oldName, newName, before, after, undefined, undefined, {
    ...options,
    timeout: timeoutMs,
  });
  return patch ?? [`--- ${oldName}`, `+++ ${newName}`, ...marked("-", before), ...marked("+", after), ""].join("\n");
}

function marked(mark: string, text: string): string[] {
  if (text === "") return [];
  return text
    .replace(/\n$/, "")
    .split("\n")
    .map((line) => mark + line);
}
