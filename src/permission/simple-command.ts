// One simple command, read strictly: its words as they are spelled, or nothing at all when bash could make anything else of the line.
// What is accepted here is a list of harmless shapes, never a list of dangerous ones with everything else let through.

/** A bare word: no character that bash or any of its options gives a meaning; `~` and `^` only where revisions like HEAD~1 have them. */
const bare = String.raw`(?:[\p{L}\p{N}\p{M}_\-./:=,@%+]|(?<=[\p{L}\p{N}])[~^])`;
/** A quoted text in which nothing is expanded. */
const quoted = String.raw`(?:'[^']*'|"[^"$\x60\\!]*")`;
const word = new RegExp(String.raw` *(${bare}+|(?:--?[A-Za-z][\w\-]*=)?${quoted})(?= |$)`, "uy");
/** Control and format characters, line ends, invisible letters, and every blank but the space. */
const deceptive = /[[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]--[ ]]/v;

/**
 * The words of `line`, quotes kept, if it is one command with literal arguments: no operator, substitution, expansion, redirection,
 * assignment, comment, escape or line break. Undefined otherwise.
 */
export function parseSimpleCommand(line: string): string[] | undefined {
  if (deceptive.test(line)) return undefined;
  const text = line.trim();
  const words: string[] = [];
  word.lastIndex = 0;
  while (word.lastIndex < text.length) {
    const match = word.exec(text)?.[1];
    if (match === undefined) return undefined;
    words.push(match);
  }
  const [program] = words;
  return program === undefined || /["'=]/.test(program) ? undefined : words;
}
