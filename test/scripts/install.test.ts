// scripts/install.sh as `curl | sh` runs it: against a server on loopback, in a PATH of its own where the machine is what a test says.
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { binaryPath } from "../helpers/run-cli.ts";
import { type TmpDir, tmp } from "../helpers/tmp.ts";

setDefaultTimeout(60_000);

const script = readFileSync(join(import.meta.dir, "../../scripts/install.sh"), "utf8");
const tools =
  "awk cat chmod cp curl env getconf grep kill mkdir mktemp mv printf rm rmdir sed sh sleep tail tr sha256sum".split(
    " ",
  );

/** A program that only says its version. */
const good = "#!/bin/sh\necho pi-ts 1.2.3\n";

interface Machine {
  readonly system?: string;
  readonly machine?: string;
  readonly musl?: boolean;
  readonly avx2?: boolean;
  readonly bits?: number;
  readonly rosetta?: boolean;
  /** The `wget` that is there is BusyBox's. */
  readonly busybox?: boolean;
  /** Tools that are not there. */
  readonly without?: readonly string[];
  /** And those that are there beside the usual ones. */
  readonly with?: readonly string[];
}

/** A folder to be the whole PATH: real tools by links, and stand-ins for those that tell what the machine is. */
function fakePath(dir: TmpDir, machine: Machine = {}): string {
  const { system = "Linux", machine: arch = "x86_64", musl = false, avx2 = true, bits = 64, rosetta = false } = machine;
  const path = dir.file("bin");
  mkdirSync(path);
  const shim = (name: string, body: string) => writeFileSync(join(path, name), `#!/bin/sh\n${body}\n`, { mode: 0o755 });
  const stands: Record<string, string> = {
    uname: `case $1 in -s) echo ${system} ;; -m) echo ${arch} ;; esac`,
    ldd: musl ? "echo 'musl libc (x86_64)' >&2; exit 1" : "echo 'ldd (GNU libc) 2.36'",
    getconf: `echo ${bits}`,
    sysctl: `echo ${rosetta ? 1 : 0}`,
    grep: `case "$*" in *avx2*) exit ${avx2 ? 0 : 1} ;; esac; exec ${Bun.which("grep")} "$@"`,
    ...(machine.busybox ? { wget: `exec ${Bun.which("busybox")} wget "$@"` } : {}),
  };
  for (const [name, body] of Object.entries(stands)) shim(name, body);
  for (const name of new Set([...tools, ...(machine.with ?? [])])) {
    if (stands[name] || machine.without?.includes(name)) continue;
    const real = Bun.which(name);
    if (real !== null) symlinkSync(real, join(path, name));
  }
  return path;
}

interface Served extends AsyncDisposable {
  readonly url: string;
  readonly asked: string[];
}

/** Serves these files, and SHA256SUMS of them unless it is among them. */
function serve(files: Readonly<Record<string, string | Blob>>, sums = sumsOf(files)): Served {
  const asked: string[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      const name = new URL(request.url).pathname.replace("/v1/", "");
      asked.push(name);
      const body = name === "SHA256SUMS" ? sums : files[name];
      return body === undefined ? new Response("no such file", { status: 404 }) : new Response(body);
    },
  });
  return { url: `http://127.0.0.1:${server.port}/v1`, asked, [Symbol.asyncDispose]: () => server.stop(true) };
}

function sumsOf(files: Readonly<Record<string, string | Blob>>): string {
  return Object.entries(files)
    .map(([name, body]) => `${typeof body === "string" ? sha256(body) : "0".repeat(64)}  ${name}\n`)
    .join("");
}

function sha256(bytes: string | Uint8Array): string {
  return new Bun.CryptoHasher("sha256").update(bytes).digest("hex");
}

interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Pipes the script into `sh`, or into another command. */
function startInstall(
  path: string,
  home: string,
  args: readonly string[],
  text = script,
  command = ["/bin/sh", "-s", "--"],
) {
  const child = Bun.spawn([...command, ...args], {
    cwd: home,
    env: { PATH: path, HOME: home },
    stdin: Buffer.from(text),
    stdout: "pipe",
    stderr: "pipe",
    timeout: 30_000,
    killSignal: "SIGKILL",
  });
  const result = Promise.all([child.stdout.text(), child.stderr.text(), child.exited]).then(
    ([stdout, stderr]): Ran => ({ code: child.exitCode, stdout, stderr }),
  );
  return { child, result };
}

async function install(dir: TmpDir, url: string, machine: Machine = {}, more: readonly string[] = []): Promise<Ran> {
  const path = fakePath(dir, machine);
  return startInstall(path, dir.path, ["--base-url", url, "--dir", dir.file("to"), ...more]).result;
}

/** All that is in the target folder, hidden files too. */
function inTarget(dir: TmpDir): string[] {
  return existsSync(dir.file("to")) ? readdirSync(dir.file("to")) : [];
}

const linux = { "pi-ts-linux-x64": good };

describe("a good install", () => {
  test.each(["curl", "wget"])("with %s puts an executable program there and nothing else", async (tool) => {
    await using dir = tmp();
    await using server = serve(linux);
    const other = tool === "curl" ? [] : ["curl"];
    const { code, stdout, stderr } = await install(dir, server.url, { without: other, with: [tool] });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toStartWith(`installed pi-ts 1.2.3 (linux-x64) as ${dir.file("to/pi-ts")}\n`);
    expect(inTarget(dir)).toEqual(["pi-ts"]);
    expect(Bun.spawnSync([dir.file("to/pi-ts")]).stdout.toString()).toBe("pi-ts 1.2.3\n");
  });

  test.skipIf(Bun.which("busybox") === null)("with BusyBox's wget, which may know no time limit", async () => {
    await using dir = tmp();
    await using server = serve(linux);
    const { code, stdout, stderr } = await install(dir, server.url, { without: ["curl"], busybox: true });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toStartWith("installed pi-ts 1.2.3");
  });

  test("works with shasum where there is no sha256sum, by any shell that is here, and from a file", async () => {
    for (const shell of ["dash", "bash", "busybox", "ksh", "zsh"].filter((name) => Bun.which(name) !== null)) {
      await using dir = tmp();
      await using server = serve(linux);
      const path = fakePath(dir, { without: ["sha256sum"], with: ["shasum", "perl"] });
      writeFileSync(dir.file("install.sh"), script);
      const command = [Bun.which(shell)!, ...(shell === "busybox" ? ["sh"] : []), dir.file("install.sh")];
      const { code, stdout, stderr } = await startInstall(path, dir.path, ["--base-url", server.url], "", command)
        .result;
      expect({ shell, code, stderr }).toEqual({ shell, code: 0, stderr: "" });
      expect(stdout).toContain(dir.file(".local/bin/pi-ts"));
    }
  });

  test("says that the folder is not on the PATH, that another pi-ts comes first, or nothing", async () => {
    await using dir = tmp();
    await using server = serve(linux);
    const path = fakePath(dir);
    const to = dir.file("to");
    const run = async (searched: string, given = to) =>
      (await startInstall(searched, dir.path, ["--base-url", server.url, "--dir", given]).result).stdout
        .split("\n")
        .slice(1, 2);
    expect(await run(path)).toEqual([`${to} is not on your PATH; add it:`]);
    expect(await run(`${to}:${path}`)).toEqual([""]);
    for (const given of [`${dir.path}//to//`, "to", "./to/.", ".//./to"]) {
      expect({ given, said: await run(`${to}:${path}`, given) }).toEqual({ given, said: [""] });
    }
    writeFileSync(join(path, "pi-ts"), good, { mode: 0o755 });
    expect(await run(`${path}:${to}`)).toEqual([`note: your PATH has another pi-ts first: ${join(path, "pi-ts")}`]);
  });

  test("replaces an older version by a rename, which a running one survives", async () => {
    await using dir = tmp();
    await using server = serve(linux);
    mkdirSync(dir.file("to"));
    writeFileSync(dir.file("to/pi-ts"), "#!/bin/sh\necho pi-ts 1.0.0\n", { mode: 0o755 });
    const before = await Bun.file(dir.file("to/pi-ts")).stat();
    const { code } = await install(dir, server.url);
    expect(code).toBe(0);
    expect(readFileSync(dir.file("to/pi-ts"), "utf8")).toBe(good);
    expect((await Bun.file(dir.file("to/pi-ts")).stat()).ino).not.toBe(before.ino);
  });

  test("of the compiled program itself", async () => {
    await using dir = tmp();
    const binary = Bun.file(binaryPath());
    const sum = sha256(await binary.bytes());
    await using server = serve({ "pi-ts-linux-x64": binary }, `${sum}  pi-ts-linux-x64\n`);
    const { code, stdout } = await install(dir, server.url);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^installed pi-ts \d+\.\d+\.\d+ \(linux-x64\)/);
    expect(sha256(await Bun.file(dir.file("to/pi-ts")).bytes())).toBe(sum);
  });
});

describe("the platform", () => {
  test.each<[string, Machine]>([
    ["linux-x64", {}],
    ["linux-x64-baseline", { avx2: false }],
    ["linux-x64-musl", { musl: true }],
    ["linux-x64-musl", { musl: true, avx2: false }],
    ["linux-arm64", { machine: "aarch64" }],
    ["linux-arm64-musl", { machine: "aarch64", musl: true }],
    ["macos-x64", { system: "Darwin" }],
    ["macos-arm64", { system: "Darwin", machine: "arm64" }],
    ["macos-arm64", { system: "Darwin", machine: "x86_64", rosetta: true }],
    ["windows-x64", { system: "MINGW64_NT-10.0-22631" }],
  ])("%s is told by %j", async (target, machine) => {
    await using dir = tmp();
    const suffix = target.startsWith("windows") ? ".exe" : "";
    await using server = serve({ [`pi-ts-${target}${suffix}`]: good });
    const { code, stdout, stderr } = await install(dir, server.url, machine);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain(`(${target})`);
    expect(inTarget(dir)).toEqual([`pi-ts${suffix}`]);
  });

  test.each<[string, Machine]>([
    ["FreeBSD on amd64", { system: "FreeBSD", machine: "amd64" }],
    ["Linux on riscv64", { machine: "riscv64" }],
    ["Linux on aarch64 with 32-bit programs", { machine: "aarch64", bits: 32 }],
  ])("%s is refused before anything is asked for", async (what, machine) => {
    await using dir = tmp();
    await using server = serve(linux);
    const { code, stdout, stderr } = await install(dir, server.url, machine);
    expect({ code, stdout, asked: server.asked, left: inTarget(dir) }).toEqual({
      code: 1,
      stdout: "",
      asked: [],
      left: [],
    });
    expect(stderr).toStartWith(`install.sh: there is no pi-ts for ${what}\n`);
  });

  test("--target overrules the guess", async () => {
    await using dir = tmp();
    await using server = serve({ "pi-ts-linux-x64-musl": good });
    const { stdout } = await install(dir, server.url, { system: "Plan9" }, ["--target", "linux-x64-musl"]);
    expect(stdout).toContain("installed pi-ts 1.2.3 (linux-x64-musl)");
  });
});

describe("nothing is installed, and an older version stays,", () => {
  const older = "#!/bin/sh\necho pi-ts 1.0.0\n";

  async function refused(server: Served, machine: Machine = {}): Promise<string> {
    await using dir = tmp();
    mkdirSync(dir.file("to"));
    writeFileSync(dir.file("to/pi-ts"), older, { mode: 0o755 });
    const { code, stdout, stderr } = await install(dir, server.url, machine);
    expect({ code, stdout, left: inTarget(dir) }).toEqual({ code: 1, stdout: "", left: ["pi-ts"] });
    expect(readFileSync(dir.file("to/pi-ts"), "utf8")).toBe(older);
    return stderr;
  }

  test("when the checksum is another", async () => {
    await using server = serve(linux, `${"a".repeat(64)}  pi-ts-linux-x64\n`);
    const stderr = await refused(server);
    expect(stderr).toContain("the download of pi-ts-linux-x64 is broken: its SHA-256 is not the one in SHA256SUMS");
    expect(stderr).toContain(sha256(good));
  });

  test("when the sums do not list the file, though one with a longer name", async () => {
    await using server = serve(linux, `${sha256(good)}  pi-ts-linux-x64-musl\n`);
    expect(await refused(server)).toContain("/SHA256SUMS does not list pi-ts-linux-x64");
  });

  test.each(["curl", "wget"])("when the file or the sums are missing (%s)", async (tool) => {
    const machine = { without: tool === "curl" ? [] : ["curl"], with: [tool] };
    await using noFile = serve({}, `${sha256(good)}  pi-ts-linux-x64\n`);
    expect(await refused(noFile, machine)).toContain(`could not download ${noFile.url}/pi-ts-linux-x64\n`);
    await using nothing = serve({ "pi-ts-linux-x64": good }, undefined as never);
    const other = { ...nothing, url: `${nothing.url}/elsewhere` };
    expect(await refused(other, machine)).toContain(`could not download ${other.url}/SHA256SUMS\n`);
  });

  test("when the download is cut, whether its length was told or not", async () => {
    for (const length of [`content-length: ${good.length}\r\n`, ""]) {
      await using server = cutServer(length);
      expect(await refused(server)).toMatch(
        /could not download .*\/pi-ts-linux-x64\n|download of pi-ts-linux-x64 is broken/,
      );
    }
  });

  test("when the program does not run here, which says why", async () => {
    const broken = "#!/bin/sh\necho 'Error loading shared library libstdc++.so.6' >&2; exit 127\n";
    await using server = serve({ "pi-ts-linux-x64-musl": broken });
    const stderr = await refused(server, { musl: true });
    expect(stderr).toContain("does not run here: Error loading shared library libstdc++.so.6\n");
    expect(stderr).toContain("apk add libstdc++");
  });

  test("when neither curl nor wget, or nothing that makes sums, is there", async () => {
    await using server = serve(linux);
    expect(await refused(server, { without: ["curl"] })).toContain("it takes curl or wget");
    expect(await refused(server, { without: ["sha256sum"] })).toContain("it takes sha256sum or shasum");
  });

  test.each([
    ["some", "a b/c/d/", "the download of pi-ts-linux-x64 is broken"],
    ["with needless slashes and dots", "a b//c/.//d//e/./", "the download of pi-ts-linux-x64 is broken"],
    ["with a name that cannot be", `a b/c/${"d".repeat(300)}`, "cannot make the folder"],
  ])("and folders that were made for it go again, but no others: %s", async (_name, to, reason) => {
    await using dir = tmp();
    mkdirSync(dir.file("a b"));
    await using server = serve(linux, `${"a".repeat(64)}  pi-ts-linux-x64\n`);
    const words = [`--base-url=${server.url}`, `--dir=${dir.path}/${to}`];
    const { code, stderr } = await startInstall(fakePath(dir), dir.path, words).result;
    expect({ code, left: readdirSync(dir.file("a b")) }).toEqual({ code: 1, left: [] });
    expect(stderr).toContain(reason);
  });

  test("when it is interrupted during the download, at once", async () => {
    await using dir = tmp();
    mkdirSync(dir.file("to"));
    writeFileSync(dir.file("to/pi-ts"), older);
    await using server = silentServer();
    const { child, result } = startInstall(fakePath(dir), dir.path, [
      "--base-url",
      server.url,
      "--dir",
      dir.file("to"),
    ]);
    await server.connected;
    child.kill("SIGTERM");
    expect((await result).code).toBe(143);
    await server.closed;
    expect(inTarget(dir)).toEqual(["pi-ts"]);
    expect(readFileSync(dir.file("to/pi-ts"), "utf8")).toBe(older);
  });
});

describe("where it cannot be put", () => {
  // Permissions do not stop root, but these places take no files from anybody.
  test.each([
    ["a folder that takes no files", "/proc/self", "cannot write in /proc/self\n"],
    ["a folder that cannot be made", "/proc/no-such-folder/bin", "cannot make the folder /proc/no-such-folder/bin\n"],
  ])("%s is told before anything is asked for", async (_name, to, message) => {
    if (!existsSync("/proc/self")) return;
    await using dir = tmp();
    await using server = serve(linux);
    const { code, stderr } = await startInstall(fakePath(dir), dir.path, ["--base-url", server.url, "--dir", to])
      .result;
    expect({ code, asked: server.asked }).toEqual({ code: 1, asked: [] });
    expect(stderr).toContain(message);
    expect(stderr).toContain("--dir FOLDER");
  });

  test.skipIf(process.getuid?.() === 0)("neither does a folder without the right to write", async () => {
    await using dir = tmp();
    mkdirSync(dir.file("to"));
    chmodSync(dir.file("to"), 0o555);
    await using server = serve(linux);
    expect((await install(dir, server.url)).stderr).toContain(`cannot write in ${dir.file("to")}\n`);
  });

  test("and a folder named pi-ts is never filled", async () => {
    await using dir = tmp();
    mkdirSync(dir.file("to/pi-ts"), { recursive: true });
    await using server = serve(linux);
    expect((await install(dir, server.url)).stderr).toContain(`${dir.file("to/pi-ts")} is a folder\n`);
    expect(readdirSync(dir.file("to/pi-ts"))).toEqual([]);
  });

  test.each([
    [[], "install.sh: where from?"],
    [["--base-url"], "install.sh: --base-url needs a value\n"],
    [["--force"], "install.sh: unknown argument: --force\n"],
  ])("the words %j are an error", async (words, message) => {
    await using dir = tmp();
    const { code, stderr } = await startInstall(fakePath(dir), dir.path, words).result;
    expect(code).toBe(1);
    expect(stderr).toStartWith(message);
  });
});

test("a script that is cut on its way runs nothing, wherever the cut is", async () => {
  await using dir = tmp();
  await using server = serve(linux);
  const path = fakePath(dir);
  const lineEnds = [...script.matchAll(/\n/g)].map(({ index }) => index).filter((_, i) => i % 4 === 0);
  const lastLine = script.trimEnd().lastIndexOf("\n");
  const cuts = [...lineEnds, ...Array.from({ length: script.trimEnd().length - lastLine }, (_, i) => lastLine + i)];
  for (const cut of cuts) {
    const args = ["--base-url", server.url, "--dir", dir.file("to")];
    const { stdout } = await startInstall(path, dir.path, args, script.slice(0, cut)).result;
    expect({ cut, stdout, asked: server.asked, left: inTarget(dir) }).toEqual({ cut, stdout: "", asked: [], left: [] });
  }
});

/** Gives the sums, and then half of the file. */
function cutServer(length: string): Served {
  const sums = sumsOf(linux);
  return rawServer((path, socket) => {
    if (path.endsWith("SHA256SUMS")) socket.end(`HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n${sums}`);
    else socket.end(`HTTP/1.1 200 OK\r\n${length}connection: close\r\n\r\n${good.slice(0, good.length / 2)}`);
  });
}

/** Takes a connection and says nothing. */
function silentServer(): Served & { readonly connected: Promise<void>; readonly closed: Promise<void> } {
  const connected = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<void>();
  const server = rawServer((_path, socket) => {
    socket.on("close", () => closed.resolve());
    connected.resolve();
  });
  return { ...server, connected: connected.promise, closed: closed.promise };
}

function rawServer(answer: (path: string, socket: import("node:net").Socket) => void): Served {
  const asked: string[] = [];
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", (bytes) => {
      const path = bytes.toString().split(" ")[1] ?? "";
      asked.push(path);
      answer(path, socket);
    });
  }).listen(0, "127.0.0.1");
  const { port } = server.address() as { port: number };
  return {
    url: `http://127.0.0.1:${port}/v1`,
    asked,
    [Symbol.asyncDispose]: async () => void server.close(),
  };
}
