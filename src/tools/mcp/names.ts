// The names under which servers' tools are offered: ones that every provider takes, unique and the same in every run.

/** What a name is made of, and how long it may be, for the strictest provider. */
const longest = 64;
const foreign = /[^A-Za-z0-9_-]/g;
const hashLength = 8;
/** So that much of a long server name leaves room for its tools. */
const longestServer = 32;

/** What a tool is called on the wire of MCP, and whose it is. */
export interface TrueName {
  readonly server: string;
  readonly name: string;
}

/**
 * `mcp__server__tool` for each, in the same order. A name with other characters than letters, digits, `_` and `-`, or one that is too long,
 * gets a hash of the true one at its end; so does one that another has already. Of the same true name only the first gets one.
 */
export function offeredNames(tools: readonly TrueName[]): (string | undefined)[] {
  const taken = new Set<string>();
  const seen = new Set<string>();
  return tools.map((tool) => {
    const key = JSON.stringify([tool.server, tool.name]);
    if (seen.has(key)) return undefined;
    seen.add(key);
    const plain = plainName(tool);
    const name = plain === undefined || taken.has(plain) ? hashedName(tool, key) : plain;
    if (taken.has(name)) return undefined;
    taken.add(name);
    return name;
  });
}

/** What the names of a server's tools begin with. */
export function namePrefix(server: string): string {
  return `mcp__${server.replace(foreign, "_").slice(0, longestServer)}__`;
}

function plainName({ server, name }: TrueName): string | undefined {
  const whole = `${namePrefix(server)}${name}`;
  return name === "" || whole.length > longest || name.search(foreign) !== -1 ? undefined : whole;
}

function hashedName({ server, name }: TrueName, key: string): string {
  const hash = new Bun.CryptoHasher("sha256").update(key).digest("hex").slice(0, hashLength);
  const readable = `${namePrefix(server)}${name.replace(foreign, "_")}`;
  return `${readable.slice(0, longest - hashLength - 1)}_${hash}`;
}

/** A test for true names in which `*` stands for any characters. */
export function matchesAny(patterns: readonly string[]): (name: string) => boolean {
  const tests = patterns.map((pattern) => new RegExp(`^${pattern.split("*").map(RegExp.escape).join(".*")}$`, "s"));
  return (name) => tests.some((test) => test.test(name));
}
