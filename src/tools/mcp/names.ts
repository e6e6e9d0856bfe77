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
 * gets a hash of the true one at its end. Of the same true name only the first gets one. `servers` are all there are, whether they have tools
 * or not, so that no name depends on who is there.
 */
export function offeredNames(tools: readonly TrueName[], servers: readonly string[]): (string | undefined)[] {
  const prefixes = namePrefixes(servers);
  const taken = new Set<string>();
  return tools.map(({ server, name }) => {
    const prefix = prefixes.get(server) ?? prefixOf(plainServer(server));
    const whole = `${prefix}${name}`;
    const isPlain = name !== "" && whole.length <= longest && name.search(foreign) === -1;
    const offered = isPlain ? whole : withHash(`${prefix}${name.replace(foreign, "_")}`, longest, [server, name]);
    if (taken.has(offered)) return undefined;
    taken.add(offered);
    return offered;
  });
}

/**
 * What the names of each server's tools begin with. None begins as another does: the server's part has no `__`, and where two would be the
 * same, those that are not written so get a hash.
 */
export function namePrefixes(servers: readonly string[]): ReadonlyMap<string, string> {
  return new Map(
    servers.map((server) => {
      const plain = plainServer(server);
      const isShared = servers.some((other) => other !== server && plainServer(other) === plain);
      return [server, prefixOf(isShared && plain !== server ? withHash(plain, longestServer, [server]) : plain)];
    }),
  );
}

function prefixOf(server: string): string {
  return `mcp__${server}__`;
}

function plainServer(name: string): string {
  return name.replace(foreign, "_").replace(/__+/g, "_").slice(0, longestServer).replace(/_$/, "");
}

/** `text` cut so that a hash of `key` fits behind it. */
function withHash(text: string, length: number, key: readonly string[]): string {
  const hash = new Bun.CryptoHasher("sha256").update(JSON.stringify(key)).digest("hex").slice(0, hashLength);
  return `${text.slice(0, length - hashLength - 1)}_${hash}`;
}

/** A test for true names in which `*` stands for any characters. */
export function matchesAny(patterns: readonly string[]): (name: string) => boolean {
  const tests = patterns.map((pattern) => new RegExp(`^${pattern.split("*").map(RegExp.escape).join(".*")}$`, "s"));
  return (name) => tests.some((test) => test.test(name));
}
