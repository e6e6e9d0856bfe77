// `pi-ts doctor`, the compiled binary: what it finds of the surroundings of a run, that it ends whatever these are, and that it keeps secrets.
import { describe, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { sessionFolder } from "../../src/session/folder.ts";
import { mcpServer, pidsIn } from "../helpers/mcp-server.ts";
import { isAtWork } from "../helpers/process-runs.ts";
import { startProxy } from "../helpers/proxy-server.ts";
import { type CliOptions, type CliResult, runCli } from "../helpers/run-cli.ts";
import { pemPath, startTlsServer } from "../helpers/tls-server.ts";
import { type TmpDir, tmp } from "../helpers/tmp.ts";

const key = "sk-corp-0123456789-abcdefghij";

interface Found {
  readonly check: string;
  readonly about?: string;
  readonly verdict: string;
  readonly text: string;
  readonly next?: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into the facts freely
  readonly [fact: string]: any;
}

/** A home whose config.toml has these lines, and doctor's answer there. */
async function examine(lines: readonly string[], args: readonly string[] = [], options: CliOptions = {}) {
  await using dir = tmp();
  const home = options.home ?? writeHome(dir, lines);
  const result = await runCli(["doctor", "--json", ...args], { ...options, home });
  return { ...result, ...parse(result) };
}

function writeHome(dir: TmpDir, lines: readonly string[]): string {
  const home = dir.file("home");
  mkdirSync(`${home}/.pi-ts`, { recursive: true });
  writeFileSync(`${home}/.pi-ts/config.toml`, lines.join("\n"));
  return home;
}

function parse({ stdout, stderr }: CliResult) {
  expect(stderr).toBe("");
  expect(stdout.trimEnd()).not.toContain("\n");
  const report = JSON.parse(stdout) as { ok: boolean; version: string; checks: Found[] };
  const find = (name: string) => report.checks.find(({ check }) => check === name) as Found;
  return { report, find };
}

/** The lines of a config.toml with a provider at `url`. */
function corp(url: string, ...more: string[]): string[] {
  return [
    'provider = "corp"',
    'model = "small"',
    "[providers.corp]",
    `base_url = "${url}"`,
    'api_key_env = "CORP_KEY"',
    ...more,
  ];
}

function serve(answer: (request: Request) => Response | Promise<Response>) {
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: answer });
  return { url: `http://127.0.0.1:${server.port}/v1`, [Symbol.asyncDispose]: () => server.stop(true) };
}

const models = (...ids: string[]) => Response.json({ data: ids.map((id) => ({ id })) });
const env = { CORP_KEY: key };

test("a provider that answers, key and all: a line for each check and exit code 0", async () => {
  const requests: string[] = [];
  await using server = serve(({ method, url, headers }) => {
    requests.push(`${method} ${new URL(url).pathname} ${headers.get("authorization")}`);
    return models("large", "small");
  });
  await using dir = tmp();
  const home = writeHome(dir, corp(server.url));
  const { code, stdout, stderr } = await runCli(["doctor"], { home, env });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const marks = stdout.split("\n").flatMap((line) => /^([✓!✗-]) ([\w-]+)/.exec(line)?.[2] ?? []);
  expect(marks).toEqual([
    "pi-ts",
    "home",
    "config",
    "key",
    "proxy",
    "certificates",
    "provider",
    "mcp",
    "sandbox",
    "bash",
    "ripgrep",
    "sessions",
    "terminal",
  ]);
  expect(stdout).toMatch(/✓ key corp +\$CORP_KEY is set\n/);
  expect(stdout).toMatch(/✓ provider corp +127\.0\.0\.1:\d+ answers in \d+ ms and lists 2 models, small among them\n/);
  expect(stdout).toContain("\nNothing is wrong.");
  expect(requests).toEqual([`GET /v1/models Bearer ${key}`]);
});

test("Anthropic's own API is asked in its own way", async () => {
  const requests: (string | null)[][] = [];
  await using server = serve(({ headers }) => {
    requests.push(["x-api-key", "authorization", "anthropic-version"].map((name) => headers.get(name)));
    return models("small-20260101");
  });
  const { code, find } = await examine(corp(server.url, 'api = "anthropic-messages"'), [], { env });
  expect(code).toBe(0);
  expect(find("provider")).toMatchObject({ verdict: "ok", listsModel: true });
  expect(requests).toEqual([[key, null, "2023-06-01"]]);
});

describe("a key", () => {
  test("that is missing is wrong for the chosen provider alone; the server is asked all the same", async () => {
    await using server = serve(() => new Response("who are you?", { status: 401 }));
    const { code, report, find } = await examine(corp(server.url), [], { env: { OPENAI_API_KEY: "" } });
    expect({ code, ok: report.ok }).toEqual({ code: 1, ok: false });
    expect(find("key")).toMatchObject({ about: "corp", verdict: "failure", variable: "CORP_KEY", state: "absent" });
    expect(find("key").next).toContain("export CORP_KEY=");
    expect(find("provider")).toMatchObject({ verdict: "ok", status: 401 });
    expect(report.checks.filter(({ verdict }) => verdict === "failure")).toHaveLength(1);
  });

  test("that the provider refuses is told as that, without the key it echoes", async () => {
    await using server = serve(
      (request) => new Response(`no such key: ${request.headers.get("authorization")}`, { status: 401 }),
    );
    const { code, stdout, find } = await examine(corp(server.url), [], { env });
    expect(code).toBe(1);
    expect(find("key").verdict).toBe("ok");
    expect(find("provider")).toMatchObject({ verdict: "failure", step: "key", code: "auth", status: 401 });
    expect(find("provider").next).toContain("Check the API key");
    expect(stdout).not.toContain(key);
  });

  test("that no request can carry is wrong", async () => {
    await using server = serve(() => models("small"));
    const { code, stdout, find } = await examine(corp(server.url), [], { env: { CORP_KEY: "two words of a key" } });
    expect(code).toBe(1);
    expect(find("key")).toMatchObject({ verdict: "failure", state: "wrong" });
    expect(stdout).not.toContain("two words");
  });

  test("is not needed where no variable is named", async () => {
    await using server = serve(() => models("small"));
    const lines = corp(server.url).filter((line) => !line.startsWith("api_key_env"));
    const { code, find } = await examine(lines);
    expect(code).toBe(0);
    expect(find("key")).toMatchObject({ verdict: "ok", state: "not needed" });
  });
});

describe("a provider that gives no list", () => {
  test.each<[string, () => Response, string, string | null]>([
    ["a server without one is a warning", () => new Response("not found", { status: 404 }), "warning", null],
    [
      "a page in its place is wrong",
      () => new Response("<h1>Log in</h1>", { headers: { "content-type": "text/html" } }),
      "failure",
      "answer",
    ],
    [
      "one that has moved is wrong",
      () => new Response("", { status: 301, headers: { location: "https://new.test/v1" } }),
      "failure",
      "answer",
    ],
    ["more than any list is wrong", () => new Response("x".repeat(6_000_000)), "failure", "answer"],
    ["one that is down is wrong", () => new Response("overloaded", { status: 503 }), "failure", "answer"],
    ["a rate limit is a warning", () => new Response("slow down", { status: 429 }), "warning", "answer"],
    ["another model is a warning", () => models("large"), "warning", null],
  ])("%s", async (_name, answer, verdict, step) => {
    await using server = serve(answer);
    const { code, find } = await examine(corp(server.url), [], { env });
    expect(find("provider")).toMatchObject({ verdict, step });
    expect(find("provider").next).not.toBe("");
    expect(code).toBe(verdict === "failure" ? 1 : 0);
  });
});

describe("a provider that is not reached", () => {
  test("a name that nobody has", async () => {
    const { code, find } = await examine(corp("https://nowhere.invalid/v1"), [], { env });
    expect(code).toBe(1);
    expect(find("provider")).toMatchObject({ verdict: "failure", step: "dns", code: "network" });
  });

  test("a port that nobody listens at", async () => {
    const { code, find } = await examine(corp("http://127.0.0.1:1/v1"), [], { env });
    expect(code).toBe(1);
    expect(find("provider")).toMatchObject({ verdict: "failure", step: "connect" });
    expect(find("provider").text).toContain("connection refused");
  });

  test("a certificate of an authority that is not known, and then is", async () => {
    await using server = startTlsServer();
    const lines = corp(`https://localhost:${server.port}/v1`);
    const { code, find } = await examine(lines, [], { env });
    expect(code).toBe(1);
    expect(find("provider")).toMatchObject({ verdict: "failure", step: "tls" });
    expect(find("provider").next).toContain("$NODE_EXTRA_CA_CERTS");
    const trusting = await examine(lines, [], { env: { ...env, NODE_EXTRA_CA_CERTS: pemPath("ca.pem") } });
    expect(trusting.find("provider").step).not.toBe("tls");
    expect(trusting.find("certificates").text).toContain("$NODE_EXTRA_CA_CERTS");
    const withCa = await examine([...lines, `ca = "${pemPath("ca.pem")}"`], [], { env });
    expect(withCa.find("provider").step).not.toBe("tls");
  });
});

describe("files of authorities", () => {
  test("those of a folder and of the system are named too", async () => {
    await using server = serve(() => models("small"));
    const variables = { SSL_CERT_DIR: pemPath("."), NODE_USE_SYSTEM_CA: "1" };
    const { code, find } = await examine(corp(server.url), [], { env: { ...env, ...variables } });
    expect(code).toBe(0);
    expect(find("certificates")).toMatchObject({
      verdict: "ok",
      text: "the built-in authorities and those of $SSL_CERT_DIR, $NODE_USE_SYSTEM_CA",
      variables: ["SSL_CERT_DIR", "NODE_USE_SYSTEM_CA"],
    });
  });

  test("that cannot be used are wrong, and none is waited for", async () => {
    await using server = serve(() => models("small"));
    await using dir = tmp();
    Bun.spawnSync(["mkfifo", dir.file("fifo.pem")]);
    writeFileSync(dir.file("broken.pem"), "-----BEGIN CERTIFICATE-----\nbroken\n-----END CERTIFICATE-----\n");
    for (const [name, file, text] of [
      ["NODE_EXTRA_CA_CERTS", "fifo.pem", "is no regular file"],
      ["SSL_CERT_FILE", "broken.pem", "holds no PEM certificate"],
      ["SSL_CERT_FILE", "none.pem", "is not there"],
      ["SSL_CERT_DIR", "broken.pem", "is no folder"],
    ] as const) {
      const { code, find } = await examine(corp(server.url), [], { env: { ...env, [name]: dir.file(file) } });
      expect(code).toBe(1);
      expect(find("certificates")).toMatchObject({ verdict: "failure", text: expect.stringContaining(text) });
    }
  });
});

function listen(onConnection: () => void): Promise<{ port: number; [Symbol.asyncDispose](): Promise<void> }> {
  const sockets = new Set<{ destroy(): void }>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    onConnection();
  });
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as { port: number };
      resolve({
        port,
        [Symbol.asyncDispose]: async () => {
          for (const socket of sockets) socket.destroy();
          server.close();
        },
      });
    });
  });
}

describe("a proxy", () => {
  test("is named without its password, and refuses in its own name", async () => {
    await using proxy = await startProxy({ target: 1, credentials: "user:right-password" });
    const proxyEnv = {
      ...env,
      HTTPS_PROXY: `http://user:hunter22@127.0.0.1:${proxy.port}`,
      NO_PROXY: "localhost,.corp",
    };
    const { code, stdout, find } = await examine(corp("https://api.provider.test/v1"), [], { env: proxyEnv });
    expect(code).toBe(1);
    expect(find("proxy")).toMatchObject({
      verdict: "ok",
      proxy: `http://127.0.0.1:${proxy.port}`,
      variables: ["HTTPS_PROXY", "NO_PROXY"],
    });
    expect(find("provider")).toMatchObject({ verdict: "failure", step: "proxy" });
    expect(find("provider").text).toContain("407");
    expect(stdout).not.toContain("hunter22");
  });

  test("the entry of NO_PROXY that a provider is under is told", async () => {
    const proxyEnv = { ...env, https_proxy: "http://user:hunter22@127.0.0.1:1", no_proxy: "localhost, .corp.invalid" };
    const { find, stdout } = await examine(corp("https://llm.corp.invalid/v1"), [], { env: proxyEnv });
    expect(find("proxy")).toMatchObject({ verdict: "ok", proxy: null, reason: "$no_proxy lists .corp.invalid" });
    expect(find("provider").step).toBe("dns");
    expect(stdout).not.toContain("hunter22");
  });

  test("of a kind that is not supported is wrong", async () => {
    const proxyEnv = { ...env, ALL_PROXY: "socks5://user:hunter22@127.0.0.1:1080" };
    const { code, find, stdout } = await examine(corp("https://api.provider.test/v1"), [], { env: proxyEnv });
    expect(code).toBe(1);
    expect(find("proxy").text).toContain("socks5");
    expect(stdout).not.toContain("hunter22");
  });
});

describe("the configuration", () => {
  test("each value has its origin", async () => {
    await using server = serve(() => models("small"));
    await using dir = tmp();
    const cwd = dir.file("work");
    mkdirSync(`${cwd}/.pi-ts`, { recursive: true });
    writeFileSync(`${cwd}/.pi-ts/config.toml`, "# ours\nmax_turns = 7\nquiet = true\n");
    const lines = [...corp(server.url)];
    lines.splice(2, 0, "max_turns = 9", "temperature = 0.5");
    const home = writeHome(dir, lines);
    const options = { home, cwd, env: { ...env, PI_MAX_TOKENS: "1000", PI_IDLE_TIMEOUT: "7" } };
    const flags = [
      "--trust-project",
      "--thinking",
      "low",
      "--max-tool-calls",
      "5",
      "--timeout",
      "2m",
      "--no-auto-compact",
    ];
    const { find } = await examine([], flags, options);
    const own = `${home}/.pi-ts/config.toml`;
    const project = `${cwd}/.pi-ts/config.toml`;
    expect(find("config").files).toEqual([
      { kind: "project", path: project, state: "in force" },
      { kind: "own", path: own, state: "in force" },
    ]);
    const settings = Object.fromEntries(
      find("config").settings.map(({ key: name, ...rest }: { key: string }) => [name, rest]),
    );
    expect(settings).toMatchObject({
      provider: { value: "corp", from: "file", path: own, line: 1 },
      model: { value: "small", from: "file", path: own, line: 2 },
      max_turns: { value: 7, from: "file", path: project, line: 2 },
      quiet: { value: true, from: "file", path: project, line: 3 },
      temperature: { value: 0.5, from: "file", path: own, line: 4 },
      max_tokens: { value: 1000, from: "environment", variable: "PI_MAX_TOKENS" },
      thinking: { value: "low", from: "flag", flag: "--thinking" },
      max_retries: { value: 3, from: "default" },
      max_tool_calls: { value: 5, from: "flag", flag: "--max-tool-calls" },
      timeout: { value: 120, from: "flag", flag: "--timeout" },
      auto_compact: { value: false, from: "flag", flag: "--no-auto-compact" },
      "providers.corp.base_url": { value: server.url, from: "file", path: own, line: 6 },
      "providers.corp.idle_timeout": { value: 7, from: "environment", variable: "PI_IDLE_TIMEOUT" },
      "providers.corp.first_byte_timeout": { value: 600, from: "default" },
    });
  });

  test("a cost limit that cannot be kept is wrong", async () => {
    await using server = serve(() => models("small"));
    const { code, find } = await examine(corp(server.url), ["--max-cost", "1"], { env });
    expect(code).toBe(1);
    expect(find("config")).toMatchObject({ verdict: "failure", text: expect.stringContaining("corp/small") });
  });

  test("a project's file that is not trusted is a warning", async () => {
    await using server = serve(() => models("small"));
    await using dir = tmp();
    const cwd = dir.file("work");
    mkdirSync(`${cwd}/.pi-ts`, { recursive: true });
    writeFileSync(`${cwd}/.pi-ts/config.toml`, "max_turns = 7\n");
    const { code, find } = await examine([], [], { home: writeHome(dir, corp(server.url)), cwd, env });
    expect(code).toBe(0);
    expect(find("config")).toMatchObject({ verdict: "warning" });
    expect(find("config").next).toContain("--trust-project");
  });

  test.each<[string, string[], string]>([
    ["no TOML", ['provider = "corp'], "not valid TOML"],
    ["an unknown key", ["max_turn = 3"], "unknown key 'max_turn'"],
    ["an unknown provider", ['provider = "nobody"'], "Unknown provider 'nobody'"],
    [
      "a variable that is not set",
      corp("http://127.0.0.1:1/v1", 'headers = { "X-Team" = "$TEAM_TOKEN" }'),
      "$TEAM_TOKEN is not set",
    ],
    ["a rule that cannot be one", ["[permissions]", 'allow = ["bash("]'], "bash("],
  ])("%s is a failed check, and the others go on", async (_name, lines, text) => {
    const { code, report, find } = await examine(lines, [], { env: { HTTPS_PROXY: "http://127.0.0.1:1" } });
    expect(code).toBe(1);
    expect(find("config").verdict).toBe("failure");
    expect(`${find("config").text} ${find("config").next}`).toContain(text);
    expect(find("config").next).toBeTruthy();
    expect(new Set(report.checks.map(({ check }) => check)).size).toBe(13);
    expect(find("sessions").verdict).toBe("ok");
  });
});

describe("MCP servers", () => {
  const token = "server-token-0123456789";

  /** A home with these servers beside a provider that answers. */
  function homeWith(dir: TmpDir, url: string, servers: Record<string, object>): string {
    return writeHome(dir, [...corp(url), Bun.TOML.stringify({ mcp: servers })]);
  }

  test("each that a run would start is tried; what is wrong with one is told without its secrets", async () => {
    await using server = serve(() => models("small"));
    await using dir = tmp();
    const pidFile = dir.file("pids");
    const home = homeWith(dir, server.url, {
      good: mcpServer({ tools: [{ name: "echo" }, { name: "add" }], prompts: [{ name: "ask", text: "?" }], pidFile }),
      broken: {
        ...mcpServer({
          stderr: ["no module left-pad", `my token is ${token}`, `my key is ${key.toUpperCase()}`],
          exitCode: 3,
          pidFile,
        }),
        env: { TOKEN: "${SERVER_TOKEN}", LOG_LEVEL: "${LEVEL}", API_KEY: key.toUpperCase() },
      },
      unset: { url: "http://127.0.0.1:1/mcp", bearer_token_env: "NOT_SET_TOKEN", required: true },
      off: { ...mcpServer({ pidFile: dir.file("never") }), enabled: false },
    });
    const options = { home, env: { ...env, SERVER_TOKEN: token, LEVEL: "failure" } };
    const { code, report, stdout } = await examine([], [], options);
    expect(code).toBe(1);
    const found = Object.fromEntries(
      report.checks.flatMap(({ check, ...rest }) => (check === "mcp" ? [[rest.about, rest]] : [])),
    );
    const source = `${home}/.pi-ts/config.toml`;
    expect(found.good).toMatchObject({
      verdict: "ok",
      text: "answers, with 2 tools, 1 prompt",
      transport: "stdio",
      source,
    });
    expect(found.good?.tools).toEqual(["mcp__good__add", "mcp__good__echo"]);
    expect(found.broken).toMatchObject({
      verdict: "failure",
      state: "failed",
      error: expect.stringContaining("no module left-pad\nmy token is [key hidden]"),
      next: expect.stringContaining(source),
    });
    expect(found.unset).toMatchObject({
      verdict: "failure",
      required: true,
      text: expect.stringContaining("$NOT_SET_TOKEN"),
    });
    expect(found.off).toMatchObject({ verdict: "skipped", state: "disabled" });
    expect(stdout).not.toContain(token);
    expect(stdout).not.toContain(key.toUpperCase());
    const shown = await runCli(["doctor"], options);
    expect(shown.stdout).toMatch(
      /✗ mcp broken +.+\n +→ .+\n +no module left-pad\n +my token is \[key hidden\]\n +my key is \[key hidden\]\n/,
    );
    expect(shown.stdout).not.toContain(token);
    expect(existsSync(dir.file("never"))).toBe(false);
    expect(pidsIn(pidFile).length).toBe(4);
    expect(pidsIn(pidFile).filter(isAtWork)).toEqual([]);
  });

  test("those of the flags count too, and what the flags leave out is not started", async () => {
    await using server = serve(() => models("small"));
    await using dir = tmp();
    const pidFile = dir.file("pids");
    const home = homeWith(dir, server.url, { mine: mcpServer({ tools: [{ name: "echo" }], pidFile }) });
    const named = { mcpServers: { theirs: mcpServer({ tools: [{ name: "x" }] }) } };
    writeFileSync(dir.file("named.json"), JSON.stringify(named));
    const verdicts = async (...args: string[]) => {
      const { code, report } = await examine([], args, { home, env, cwd: dir.path });
      expect(code).toBe(0);
      return report.checks.flatMap(({ check, about = "", verdict }) => (check === "mcp" ? [[about, verdict]] : []));
    };
    expect(await verdicts("--mcp-config", "named.json")).toEqual([
      ["theirs", "ok"],
      ["mine", "ok"],
    ]);
    const started = pidsIn(pidFile).length;
    expect(await verdicts("--read-only")).toEqual([["mine", "skipped"]]);
    expect(await verdicts("--no-mcp")).toEqual([["", "skipped"]]);
    expect(pidsIn(pidFile).length).toBe(started);
    const missing = await examine([], ["--mcp-config", "none.json"], { home, env, cwd: dir.path });
    expect(missing.code).toBe(1);
    expect(missing.find("mcp")).toMatchObject({ verdict: "failure", text: expect.stringContaining("none.json") });
  });

  test("those of a project that is not trusted are a warning and are not started", async () => {
    await using server = serve(() => models("small"));
    await using dir = tmp();
    const cwd = dir.file("work");
    mkdirSync(cwd);
    const pidFile = dir.file("pids");
    writeFileSync(`${cwd}/.mcp.json`, JSON.stringify({ mcpServers: { theirs: mcpServer({ pidFile }), bad: 1 } }));
    const options = { home: homeWith(dir, server.url, {}), env, cwd };
    const { code, find } = await examine([], [], options);
    expect(code).toBe(0);
    expect(find("mcp")).toMatchObject({
      verdict: "warning",
      path: `${cwd}/.mcp.json`,
      text: expect.stringContaining("not in force"),
    });
    expect(existsSync(pidFile)).toBe(false);
    const trusted = await examine([], ["--approve"], options);
    const checks = trusted.report.checks.filter(({ check }) => check === "mcp");
    expect(checks).toMatchObject([
      { verdict: "warning", text: expect.stringContaining("bad") },
      { about: "theirs", verdict: "ok" },
    ]);
  });
});

describe("folders", () => {
  test("a home that is no folder is wrong", async () => {
    await using dir = tmp();
    writeFileSync(dir.file("file"), "");
    const { code, find } = await examine([], [], { home: dir.path, env: { PI_TS_HOME: dir.file("file") } });
    expect(code).toBe(1);
    expect(find("home")).toMatchObject({ verdict: "failure", path: dir.file("file") });
    expect(find("config").verdict).toBe("ok");
    expect(find("sessions").verdict).toBe("failure");
  });

  test.skipIf(process.getuid?.() === 0)("a home that may not be read is wrong", async () => {
    await using dir = tmp();
    const home = writeHome(dir, []);
    chmodSync(`${home}/.pi-ts`, 0);
    const { code, find } = await examine([], [], { home });
    chmodSync(`${home}/.pi-ts`, 0o700);
    expect(code).toBe(1);
    expect(find("home").text).toContain("cannot be read");
    expect(find("config")).toMatchObject({ verdict: "failure", text: expect.stringContaining("Cannot read") });
  });

  test("sessions that cannot be stored from here are wrong, though their root is writable", async () => {
    await using server = serve(() => models("small"));
    await using dir = tmp();
    const home = writeHome(dir, corp(server.url));
    mkdirSync(`${home}/.pi-ts/sessions`);
    writeFileSync(sessionFolder(`${home}/.pi-ts/sessions`, dir.path), "");
    const { code, find } = await examine([], [], { home, env, cwd: dir.path });
    expect(code).toBe(1);
    expect(find("home").verdict).toBe("ok");
    expect(find("sessions")).toMatchObject({ verdict: "failure", text: expect.stringContaining("-- is no folder") });
  });

  test("a folder that is a link to nowhere is wrong", async () => {
    await using dir = tmp();
    symlinkSync(dir.file("nowhere"), dir.file("link"));
    const { find } = await examine([], ["--session-dir", dir.file("link")]);
    expect(find("sessions")).toMatchObject({ verdict: "failure", text: expect.stringContaining("is a link") });
  });

  test.skipIf(process.platform !== "linux")(
    "a home that cannot be made or written is a warning, since tasks run",
    async () => {
      await using server = serve(() => models("small"));
      await using dir = tmp();
      // Not even root makes folders there.
      const options = { home: writeHome(dir, []), env: { PI_TS_HOME: "/proc/none" } };
      const flags = ["--base-url", server.url, "--provider", "openai", "--model", "small", "--api-key", key];
      const elsewhere = await examine([], [...flags, "--session-dir", dir.file("sessions")], options);
      expect(elsewhere.code).toBe(0);
      expect(elsewhere.find("home")).toMatchObject({
        verdict: "warning",
        text: expect.stringContaining("cannot be made"),
      });
      const { code, find } = await examine([], flags, options);
      expect(code).toBe(1);
      expect(find("sessions")).toMatchObject({ verdict: "failure", text: expect.stringContaining("cannot be made") });
    },
  );

  test("sessions that others can read are a warning, locks of programs that are gone are counted", async () => {
    await using server = serve(() => models("small"));
    await using dir = tmp();
    const folder = dir.file("sessions/--work--");
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    chmodSync(dir.file("sessions"), 0o700);
    writeFileSync(`${folder}/a.jsonl`, "", { mode: 0o600 });
    writeFileSync(`${folder}/a.jsonl.lock`, JSON.stringify({ pid: 2 ** 22 + 1, started: "1" }), { mode: 0o600 });
    Bun.spawnSync(["mkfifo", `${folder}/b.jsonl.lock`]);
    const args = ["--session-dir", dir.file("sessions")];
    const options = { home: writeHome(dir, corp(server.url)), env };
    const { find } = await examine([], args, options);
    expect(find("sessions")).toMatchObject({ verdict: "ok", path: dir.file("sessions"), sessions: 1, leftLocks: 1 });
    chmodSync(`${folder}/a.jsonl`, 0o644);
    const closed = await examine([], args, options);
    expect(closed.find("sessions")).toMatchObject({ verdict: "ok", readableByOthers: 0 });
    for (const path of [dir.file("sessions"), folder]) chmodSync(path, 0o755);
    const open = await examine([], args, options);
    expect(open.find("sessions")).toMatchObject({
      verdict: "warning",
      readableByOthers: 3,
      next: `chmod -R go= ${dir.file("sessions")}`,
    });
    expect(open.code).toBe(0);
  });
});

describe("programs", () => {
  test("without ripgrep and bubblewrap there are warnings, and a failure where the sandbox is wanted", async () => {
    await using server = serve(() => models("small"));
    await using dir = tmp();
    const bin = dir.file("bin");
    mkdirSync(bin);
    symlinkSync(Bun.which("bash") as string, `${bin}/bash`);
    const options = { home: writeHome(dir, corp(server.url)), env: { ...env, PATH: bin } };
    const { code, find } = await examine([], [], options);
    expect(code).toBe(0);
    expect(find("ripgrep")).toMatchObject({ verdict: "warning", used: false });
    if (process.platform !== "linux") return;
    expect(find("sandbox")).toMatchObject({ verdict: "warning", works: false });
    const wanted = await examine([], ["--sandbox"], options);
    expect(wanted.code).toBe(1);
    expect(wanted.find("sandbox")).toMatchObject({ verdict: "failure", wanted: true });
    expect(wanted.find("sandbox").next).toContain("bubblewrap");
  });

  test("a ripgrep in the working directory is passed over, and told where there is no other", async () => {
    await using server = serve(() => models("small"));
    await using dir = tmp();
    const cwd = dir.file("work");
    for (const folder of ["work", "bin"]) {
      mkdirSync(dir.file(folder));
      writeFileSync(dir.file(`${folder}/rg`), "#!/bin/sh\necho ripgrep 1.0\n", { mode: 0o755 });
    }
    const home = writeHome(dir, corp(server.url));
    const ripgrep = async (...folders: string[]) =>
      (await examine([], [], { home, cwd, env: { ...env, PATH: folders.join(":") } })).find("ripgrep");
    expect(await ripgrep(cwd, dir.file("bin"))).toMatchObject({ verdict: "ok", path: dir.file("bin/rg") });
    const alone = await ripgrep(cwd);
    expect(alone).toMatchObject({ verdict: "warning", path: `${cwd}/rg`, used: false });
    expect(alone.text).toContain("lies in the working directory and is not used");
  });
});

test("secrets show nowhere, wherever they are", async () => {
  await using server = serve((request) => Response.json(Object.fromEntries(request.headers), { status: 400 }));
  await using dir = tmp();
  const secrets = [
    key,
    "header-secret-1",
    "flag-key-secret-1",
    "url-password-1",
    "proxy-password-1",
    "other-provider-key-1",
  ];
  const url = server.url.replace("127.0.0.1", "user:url-password-1@127.0.0.1");
  const lines = corp(url, 'headers = { "X-Gateway" = "$GATEWAY_TOKEN", "X-Token" = "header-secret-1" }');
  const home = writeHome(dir, lines);
  const secretEnv = {
    ...env,
    GATEWAY_TOKEN: "header-secret-1",
    OPENAI_API_KEY: "other-provider-key-1",
    HTTP_PROXY: "http://user:proxy-password-1@127.0.0.1:1",
    HTTPS_PROXY: "user:proxy-password-1@127.0.0.1:1",
  };
  for (const args of [[], ["--json"], ["--all-providers"], ["--api-key", "flag-key-secret-1"]]) {
    const { stdout, stderr } = await runCli(["doctor", ...args], { home, env: secretEnv });
    for (const secret of secrets) expect(stdout + stderr).not.toContain(secret);
  }
});

test("a key in the base URL's query shows nowhere", async () => {
  await using server = serve(() => models("small"));
  await using dir = tmp();
  const home = writeHome(dir, corp(`${server.url}?api_key=query-secret-1&api-version=7`));
  for (const args of [[], ["--json"]]) {
    const { stdout, stderr } = await runCli(["doctor", ...args], { home, env });
    expect(stdout).toContain("api-version=7");
    expect(stdout + stderr).not.toContain("query-secret-1");
  }
});

test("a key that is one of doctor's own words leaves these as they are", async () => {
  await using server = serve(() => models("small"));
  await using dir = tmp();
  const home = writeHome(dir, corp(server.url));
  for (const word of ["skipped", "corp", "sandbox"]) {
    const options = { home, env: { CORP_KEY: word } };
    const { code, report } = await examine([], [], options);
    expect({ code, ok: report.ok }).toEqual({ code: 0, ok: true });
    expect(JSON.stringify(report.checks.map(({ check, about, verdict }) => [check, about, verdict]))).not.toContain(
      "hidden",
    );
    expect(await runCli(["doctor"], options)).toMatchObject({ code: 0, stderr: "" });
  }
});

test("--all-providers asks those with a key, and the others are no fault", async () => {
  await using server = serve(() => models("small", "gpt-6.2-sol"));
  await using dir = tmp();
  const home = writeHome(dir, [...corp(server.url), "[providers.openai]", `base_url = "${server.url}"`]);
  const { code, report } = await examine([], ["--all-providers"], { home, env: { ...env, OPENAI_API_KEY: key } });
  expect(code).toBe(0);
  const asked = report.checks.filter(({ check }) => check === "provider").map(({ about, verdict }) => [about, verdict]);
  expect(asked.slice(0, 3)).toEqual([
    ["corp", "ok"],
    ["anthropic", "skipped"],
    ["openai", "ok"],
  ]);
});

test("--provider asks another one; words are an error", async () => {
  await using server = serve(() => models("small"));
  await using dir = tmp();
  const home = writeHome(dir, [
    ...corp(server.url),
    "[providers.other]",
    `base_url = "${server.url}"`,
    'models = ["small"]',
  ]);
  const { code, find } = await examine([], ["--provider", "other"], { home });
  expect(code).toBe(0);
  expect(find("provider")).toMatchObject({ about: "other", verdict: "ok" });
  const wrong = await runCli(["doctor", "now"], { home });
  expect(wrong.code).toBe(2);
});

describe.concurrent("what never ends does not keep it:", () => {
  test("an MCP server that has longer than doctor", async () => {
    await using server = serve(() => models("small"));
    await using silent = await listen(() => {});
    await using dir = tmp();
    const pidFile = dir.file("pids");
    const servers = {
      silent: { url: `http://127.0.0.1:${silent.port}/mcp` },
      stubborn: { ...mcpServer({ initialize: "never", stubborn: true, pidFile }), startup_timeout: 0 },
      late: { ...mcpServer({ initialize: "never" }), startup_timeout: 1 },
    };
    const home = writeHome(dir, [...corp(server.url), Bun.TOML.stringify({ mcp: servers })]);
    const begun = performance.now();
    const { code, report } = await examine([], [], { home, env });
    expect(performance.now() - begun).toBeLessThan(15_000);
    expect(code).toBe(1);
    const found = report.checks.flatMap(({ check, about, verdict }) => (check === "mcp" ? [[about, verdict]] : []));
    expect(found).toEqual([
      ["silent", "warning"],
      ["stubborn", "warning"],
      ["late", "failure"],
    ]);
    expect(pidsIn(pidFile).filter(isAtWork)).toEqual([]);
  }, 25_000);

  test("a server whose answer does not end", async () => {
    const encoder = new TextEncoder();
    await using server = serve(() => {
      const body = new ReadableStream({
        async pull(controller) {
          controller.enqueue(encoder.encode(" "));
          await Bun.sleep(100);
        },
      });
      return new Response(body, { headers: { "content-type": "application/json" } });
    });
    const begun = performance.now();
    const { code, find } = await examine(corp(server.url), [], { env });
    expect(code).toBe(1);
    expect(find("provider")).toMatchObject({ about: "corp", verdict: "failure", step: "answer", code: "timeout" });
    expect(find("provider").next).toContain("base URL");
    expect(performance.now() - begun).toBeLessThan(14_000);
  }, 20_000);

  test("a server that takes the connection and keeps silent", async () => {
    await using server = await listen(() => {});
    const begun = performance.now();
    const { code, find } = await examine(corp(`http://127.0.0.1:${server.port}/v1`), [], { env });
    expect(code).toBe(1);
    expect(find("provider")).toMatchObject({ verdict: "failure", step: "answer", code: "timeout" });
    expect(performance.now() - begun).toBeLessThan(15_000);
  }, 20_000);

  test("programs", async () => {
    await using server = serve(() => models("small"));
    await using dir = tmp();
    const bin = dir.file("bin");
    mkdirSync(bin);
    for (const name of ["rg", "bwrap", "bash"]) {
      writeFileSync(`${bin}/${name}`, "#!/bin/sh\nexec sleep 60\n", { mode: 0o755 });
    }
    const begun = performance.now();
    const path = `${bin}:${process.env.PATH}`;
    const { code, find } = await examine([], [], {
      home: writeHome(dir, corp(server.url)),
      env: { ...env, PATH: path },
    });
    expect(code).toBe(1);
    expect(find("ripgrep").text).toContain("does not run");
    expect(find("bash").verdict).toBe("failure");
    expect(performance.now() - begun).toBeLessThan(15_000);
  }, 20_000);
});
