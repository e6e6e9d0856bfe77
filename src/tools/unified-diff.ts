// A change as a person reads it before approving: a unified diff in which nothing is left out.

/** The most lines that go out or in; of more, a plain "all out, all in" takes the place of the shortest diff, which would take seconds to find. */
const maxChangedLines = 3000;

export async function unifiedDiff(oldName: string, newName: string, before: string, after: string): Promise<string> {
  const { createTwoFilesPatch, FILE_HEADERS_ONLY } = await import("diff");
  const options = { context: 3, headerOptions: FILE_HEADERS_ONLY };
  const patch = createTwoFilesPatch(oldName, newName, before, after, undefined, undefined, {
    ...options,
    maxEditLength: maxChangedLines,
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
