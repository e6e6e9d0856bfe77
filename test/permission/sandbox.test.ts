// The sandbox for commands: what it is asked for, what it keeps out, and what is said when there is none.
import { describe, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { bwrapCommand, createSandbox, type SandboxOptions, sandboxExecCommand } from "../../src/permission/sandbox.ts";
import { startReplayServer } from "../helpers/replay-server.ts";
import { runCli } from "../helpers/run-cli.ts";
import { tmp } from "../helpers/tmp.ts";

const plan = {
  cwd: "/home/u/work",
  temp: ["/tmp"],
  hidden: [
    { path: "/home/u/.pi-ts", isFolder: true },
    { path: "/home/u/.netrc", isFolder: false },
  ],
  network: false,
};

test("bubblewrap is told to make all read-only but the working directory and temp, and to hide what holds keys", () => {
  const argv = bwrapCommand(plan, ["bash", "-c", "ls"]);
  const text = argv.join(" ");
  expect(text).toStartWith("bwrap --ro-bind / / --dev /dev --proc /proc --tmpfs /run ");
  expect(text).toContain(
    "--bind /tmp /tmp --bind /home/u/work /home/u/work --tmpfs /home/u/.pi-ts --ro-bind /dev/null /home/u/.netrc",
  );
  expect(text).toContain("--unshare-pid --unshare-ipc --unshare-uts --unshare-net --cap-drop ALL --die-with-parent");
  expect(text).toEndWith("--chdir /home/u/work -- bash -c ls");
  expect(bwrapCommand({ ...plan, network: true }, ["ls"])).not.toContain("--unshare-net");
});

test("a working directory among the hidden folders stays in sight", () => {
  expect(bwrapCommand({ ...plan, cwd: "/home/u/.pi-ts/x" }, ["ls"]).join(" ")).not.toContain("--tmpfs /home/u/.pi-ts");
});

test("sandbox-exec gets a profile that says the same", () => {
  const [program, flag, profile, ...command] = sandboxExecCommand({ ...plan, cwd: '/home/u/a"b\\' }, [
    "bash",
    "-c",
    "ls",
  ]);
  expect([program, flag, ...command]).toEqual(["/usr/bin/sandbox-exec", "-p", "bash", "-c", "ls"]);
  expect(profile).toBe(
    [
      "(version 1)",
      "(allow default)",
      "(deny file-write*)",
      '(allow file-write* (subpath "/tmp") (subpath "/home/u/a\\"b\\\\") (subpath "/dev"))',
      '(deny file-read* file-write* (subpath "/home/u/.pi-ts") (literal "/home/u/.netrc"))',
      "(deny network*)",
    ].join("\n"),
  );
  expect(sandboxExecCommand({ ...plan, network: true }, ["ls"])[2]).not.toContain("network");
});

describe.if(process.platform === "linux")("on Linux", () => {
  const keyed = { PI_PROVIDER: "openai", OPENAI_API_KEY: "k" };

  test("--sandbox without bubblewrap is an error at the start", async () => {
    await using dir = tmp();
    const result = await runCli(["-p", "--sandbox", "go"], { env: { ...keyed, PATH: dir.path } });
    expect(result.stderr).toContain("--sandbox: bubblewrap is not installed");
    expect(result.code).toBe(2);
  });

  test("a bubblewrap that the kernel refuses is an error at the start, with its words", async () => {
    await using dir = tmp();
    writeFileSync(dir.file("bwrap"), "#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n");
    chmodSync(dir.file("bwrap"), 0o755);
    mkdirSync(dir.file(".pi-ts"));
    writeFileSync(dir.file(".pi-ts/config.toml"), "sandbox = true\n");
    const env = { ...keyed, PATH: `${dir.path}:${process.env.PATH}` };
    const result = await runCli(["-p", "go"], { env, home: dir.path });
    expect(result.stderr).toContain(
      "--sandbox: bwrap does not work here: bwrap: No permissions to create new namespace",
    );
    expect(result.code).toBe(2);
  });
});

const options = (cwd: string, ownFolder: string, network = false): SandboxOptions => ({
  cwd,
  ownFolder,
  network,
  env: process.env,
});

function works(): boolean {
  try {
    createSandbox(options(homedir(), homedir()));
    return true;
  } catch {
    return false;
  }
}

describe.if(works())("where it works", () => {
  function run(script: string, settings: SandboxOptions): string {
    const argv = createSandbox(settings)(["bash", "-c", script]);
    return Bun.spawnSync(argv, { cwd: settings.cwd, stderr: "pipe" }).stdout.toString().trim();
  }

  test("commands write in the working directory and in temp, and nowhere else", async () => {
    await using dir = tmp();
    // Neither the working directory nor a temporary folder, wherever the tests themselves are run.
    const outside = `/etc/pi-ts-sandbox-test-${process.pid}`;
    run(
      `echo in > made; echo out > '${outside}'; echo temp > "$TMPDIR/x" || echo temp > /tmp/pi-ts-$$ && rm -f /tmp/pi-ts-$$`,
      options(dir.path, dir.file("none")),
    );
    expect(await Bun.file(dir.file("made")).text()).toBe("in\n");
    expect(existsSync(outside)).toBe(false);
  });

  test("what holds keys is out of sight, and so is the memory of the program that started it", async () => {
    await using dir = tmp();
    mkdirSync(dir.file("home"));
    mkdirSync(dir.file("work"));
    writeFileSync(dir.file("home/config.toml"), "secret");
    const script = `cat '${dir.file("home/config.toml")}'; test -e /proc/${process.pid}/environ && echo seen; echo end`;
    expect(run(script, options(dir.file("work"), dir.file("home")))).toBe("end");
  });

  test("--sandbox holds for the commands of a run", async () => {
    await using dir = tmp();
    const outside = `/etc/pi-ts-sandbox-test-${process.pid}`;
    const command = `touch made; touch ${outside} || echo refused`;
    const turn = { turn: { calls: [{ id: "c", name: "bash", arguments: { command } }] } };
    await using server = await startReplayServer([turn, { turn: { text: "ok" } }]);
    const env = { PI_PROVIDER: "openai", OPENAI_API_KEY: "k", PI_BASE_URL: server.url };
    const result = await runCli(["-p", "--yolo", "--sandbox", "go"], { env, cwd: dir.path });
    expect(result.code).toBe(0);
    expect(server.requests[1]?.body.messages.at(-1).content).toContain("refused");
    expect(existsSync(dir.file("made"))).toBe(true);
    expect(existsSync(outside)).toBe(false);
  });

  test("there is no network, unless it is let through", async () => {
    await using dir = tmp();
    using server = Bun.serve({ port: 0, fetch: () => new Response("hi") });
    const script = `(exec 3<>/dev/tcp/127.0.0.1/${server.port}) 2>/dev/null && echo reached || echo cut`;
    expect(run(script, options(dir.path, dir.file("none")))).toBe("cut");
    expect(run(script, options(dir.path, dir.file("none"), true))).toBe("reached");
  });
});
