// A libstdc++ for musl where the system has none, such as on Debian: linked from those parts of glibc's static one that Bun asks for.
// It is good enough to smoke-test a musl build; users have their distribution's own.
import { mkdirSync } from "node:fs";
import { join } from "node:path";

/** The folder with the library, for `LD_LIBRARY_PATH`, or why there is none. `program` is the one that needs it. */
export function buildMuslLibs(program: string, scratch: string): string | { readonly reason: string } {
  const needed = ["musl-gcc", "gcc", "g++", "nm"].filter((tool) => Bun.which(tool) === null);
  if (needed.length > 0)
    return { reason: `needs ${needed.join(", ")} to make a libstdc++ for musl (Debian's musl-tools, g++)` };
  const folder = join(scratch, "musl-libs");
  mkdirSync(folder, { recursive: true });

  const archive = (name: string) => run("g++", `-print-file-name=${name}`).trim();
  const libstdcxx = archive("libstdc++.a");
  const defined = new Set(symbolsOf("-g", "--defined-only", libstdcxx).map(({ name }) => name));
  // Its own functions (T) it has; what it shows as its own data can be a place for a copy of the library's.
  const wanted = symbolsOf("-D", program).filter(({ name, kind }) => kind !== "T" && defined.has(name));
  const compat = join(folder, "compat.o");
  run("gcc", "-c", "-fPIC", "-O1", join(import.meta.dir, "musl-libs.c"), "-o", compat);
  const parts = [
    ...wanted.map(({ name }) => `-Wl,-u,${name}`),
    compat,
    libstdcxx,
    archive("libgcc_eh.a"),
    archive("libgcc.a"),
  ];
  const library = "libstdc++.so.6";
  run("musl-gcc", "-shared", "-nostdlib", "-o", join(folder, library), `-Wl,-soname,${library}`, ...parts, "-lc");
  return folder;
}

/** Lines of nm(1): an address or none, a letter for the kind, a name with its version or without. */
function symbolsOf(...words: string[]): { kind: string; name: string }[] {
  const lines = run("nm", ...words).matchAll(/^[\da-f ]+ (\w) ([^@\s]+)/gm);
  return [...lines].map(([, kind, name]) => ({ kind: kind!, name: name! }));
}

function run(...command: string[]): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync(command, { stdin: "ignore" });
  if (exitCode !== 0) throw new Error(`${command[0]} ended with ${exitCode}: ${stderr.toString().trim()}`);
  return stdout.toString();
}
