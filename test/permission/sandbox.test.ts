// The sandbox for commands: what it is asked for, what it keeps out, and what is said when there is none.
import { afterAll, describe, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import {
  bwrapCommand,
  createSandbox,
  planSandbox,
  type SandboxOptions,
  sandboxExecCommand,
} from "../../src/permission/sandbox.ts";
import { outputFolder } from "../../src/util/output-folder.ts";
import { startReplayServer } from "../helpers/replay-server.ts";
import { runCli } from "../helpers/run-cli.ts";
import { tmp } from "../helpers/tmp.ts";

// The runner does not let its process end as a program does, so what would go away then is kept in one place.
const place = tmp();
const { TMPDIR } = process.env;
process.env.TMPDIR = place.path;
afterAll(async () => {
  if (TMPDIR === undefined) delete process.env.TMPDIR;
  else process.env.TMPDIR = TMPDIR;
  await place[Symbol.asyncDispose]();
});

const plan = {
  cwd: "/home/u/work",
  temp: ["/tmp", "/var/tmp"],
  privateTemp: "/tmp/pi-ts-sandbox-1",
  outputs: "/tmp/pi-ts-output-1",
  hidden: [
    { path: "/home/u/.pi-ts", isFolder: true },
    { path: "/home/u/.netrc", isFolder: false },
  ],
  network: false,
};

test("bubblewrap is told to make all read-only but the working directory and temp, and to hide what holds keys", () => {
  const argv = bwrapCommand("bwrap", plan, ["bash", "-c", "ls"]);
  const text = argv.join(" ");
  expect(text).toStartWith("bwrap --ro-bind / / --dev /dev --proc /proc --ro-bind-try /proc/sys /proc/sys ");
  expect(text).toContain(
    "--bind /tmp/pi-ts-sandbox-1 /tmp --bind /tmp/pi-ts-sandbox-1 /var/tmp " +
      "--ro-bind-try /tmp/pi-ts-output-1 /tmp/pi-ts-output-1 --bind /home/u/work /home/u/work " +
      "--tmpfs /home/u/.pi-ts --ro-bind /dev/null /home/u/.netrc",
  );
  expect(text).toContain("--unshare-pid --unshare-ipc --unshare-uts --unshare-net --cap-drop ALL --unsetenv TMUX");
  expect(text).toEndWith("--chdir /home/u/work -- bash -c ls");
  expect(bwrapCommand("bwrap", { ...plan, network: true }, ["ls"])).not.toContain("--unshare-net");
});

test("a working directory among the hidden folders stays in sight", async () => {
  await using dir = tmp();
  mkdirSync(dir.file("own/x"), { recursive: true });
  const hidden = (cwd: string) =>
    planSandbox({ cwd, ownFolder: dir.file("own"), network: false, env: {} }).hidden.map(({ path }) => path);
  expect(hidden(dir.file("own/x"))).not.toContain(dir.file("own"));
  expect(hidden(dir.path)).toContain(dir.file("own"));
});

test("sandbox-exec gets a profile that says the same", () => {
  const [program, flag, profile, ...command] = sandboxExecCommand({ ...plan, cwd: '/home/u/a"b\\' }, [
    "bash",
    "-c",
    "ls",
  ]);
  expect([program, flag]).toEqual(["/usr/bin/sandbox-exec", "-p"]);
  expect(command.join(" ")).toMatch(/^\/usr\/bin\/env -u TMUX .*-u SSH_AUTH_SOCK .* bash -c ls$/);
  expect(profile).toBe(
    [
      "(version 1)",
      "(allow default)",
      "(deny file-write*)",
      '(allow file-write* (subpath "/tmp") (subpath "/var/tmp") (subpath "/home/u/a\\"b\\\\") (subpath "/dev"))',
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

  test("a signal while it is tried leaves nothing in temp", async () => {
    await using dir = tmp();
    for (const name of ["bin", "temp"]) mkdirSync(dir.file(name));
    writeFileSync(dir.file("bin/bwrap"), "#!/bin/sh\nkill -HUP $PPID\n");
    chmodSync(dir.file("bin/bwrap"), 0o755);
    const env = { ...keyed, PATH: `${dir.file("bin")}:${process.env.PATH}`, TMPDIR: dir.file("temp") };
    const result = await runCli(["-p", "--sandbox", "go"], { env });
    expect([result.code, result.signal]).toEqual([129, null]);
    expect(readdirSync(dir.file("temp"))).toEqual([]);
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
    return Bun.spawnSync(argv, { cwd: settings.cwd, env: { ...settings.env }, stderr: "pipe" })
      .stdout.toString()
      .trim();
  }

  test.if(process.platform === "linux")(
    "a bwrap that a command puts into the working directory is not used",
    async () => {
      await using dir = tmp();
      mkdirSync(dir.file("bin"));
      mkdirSync(dir.file("work"));
      writeFileSync(dir.file("work/bwrap"), "#!/bin/sh\necho escaped\n");
      chmodSync(dir.file("work/bwrap"), 0o755);
      symlinkSync("../work/bwrap", dir.file("bin/bwrap"));
      const env = { PATH: [dir.file("work"), dir.file("bin"), process.env.PATH].join(":") };
      expect(run("echo inside", { ...options(dir.file("work"), dir.file("own")), env })).toBe("inside");
    },
  );

  test("commands write in the working directory and in temp, and nowhere else", async () => {
    await using dir = tmp();
    // Neither the working directory nor a temporary folder, wherever the tests themselves are run.
    const outside = `/etc/pi-ts-sandbox-test-${process.pid}`;
    const script = `echo in > made; echo out > '${outside}'; echo temp > "\${TMPDIR:-/tmp}/x" && cat "\${TMPDIR:-/tmp}/x"`;
    expect(run(script, options(dir.path, dir.file("none")))).toBe("temp");
    expect(await Bun.file(dir.file("made")).text()).toBe("in\n");
    expect(existsSync(outside)).toBe(false);
  });

  describe.if(process.platform === "linux")("on Linux", () => {
    test("temp is the session's own: commands find what an earlier one left there, and nothing else", async () => {
      await using dir = tmp();
      const name = `pi-ts-sandbox-test-${process.pid}`;
      writeFileSync(`/tmp/${name}-outside`, "");
      const sandbox = createSandbox(options(dir.path, dir.file("none")));
      const inside = (script: string) =>
        Bun.spawnSync(sandbox(["bash", "-c", script]), { cwd: dir.path })
          .stdout.toString()
          .trim();
      try {
        expect(inside(`cd /tmp; echo kept > ${name}; ls ${name}*`)).toBe(name);
        expect(inside(`cat /tmp/${name}; ls /tmp/${name}*`)).toBe(`kept\n/tmp/${name}`);
        expect(existsSync(`/tmp/${name}`)).toBe(false);
      } finally {
        rmSync(`/tmp/${name}-outside`);
      }
    });

    test("the settings of the kernel can be read, and not changed, whoever runs it", async () => {
      await using dir = tmp();
      const script =
        "cd /proc/sys/kernel && cat ostype; test -w core_pattern && echo writable; test -w pid_max && echo writable";
      expect(run(script, options(dir.path, dir.file("own")))).toBe("Linux");
    });

    test("sockets in temp are out of reach, and the variables that name such sockets are gone", async () => {
      await using dir = tmp();
      await using other = tmp();
      const socket = other.file("agent");
      using _server = Bun.listen({ unix: socket, socket: { data() {} } });
      const names = ["TMUX", "SSH_AUTH_SOCK", "DISPLAY", "WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS"];
      const settings = options(dir.path, dir.file("none"), true);
      const { stdout } = Bun.spawnSync(
        createSandbox(settings)(["bash", "-c", `test -e '${socket}' && echo seen; env`]),
        {
          cwd: settings.cwd,
          env: { ...process.env, ...Object.fromEntries(names.map((name) => [name, socket])) },
        },
      );
      expect(existsSync(socket)).toBe(true);
      expect(stdout.toString()).not.toContain("seen");
      expect(stdout.toString()).not.toContain(socket);
    });

    test("the full output of an earlier command can be read, and not changed", async () => {
      await using dir = tmp();
      const settings = options(dir.path, dir.file("none"));
      const file = join(outputFolder(), "sandbox-test.txt");
      writeFileSync(file, "all of it");
      expect(run(`cat ${file}; echo changed > ${file} || echo refused`, settings)).toEndWith("all of itrefused");
    });

    test("what a command leaves in the background goes on, and ends with the agent", async () => {
      await using dir = tmp();
      // Both ends of a FIFO: the reader starts in one call and is written to by the next.
      const start = "mkfifo fifo; (read word < fifo; echo got $word > got; exec sleep 300) > log 2>&1 &";
      const talk = "echo hello > fifo; until [ -s got ]; do :; done; cat got";
      const call = (command: string) => ({ turn: { calls: [{ id: "c", name: "bash", arguments: { command } }] } });
      await using server = await startReplayServer([call(start), call(talk), { turn: { text: "ok" } }]);
      const env = { PI_PROVIDER: "openai", OPENAI_API_KEY: "k", PI_BASE_URL: server.url };
      const result = await runCli(["-p", "--yolo", "--sandbox", "go"], { env, cwd: dir.path });
      expect(result.code).toBe(0);
      expect(server.requests[2]?.body.messages.at(-1).content).toStartWith("got hello");
      const running = readdirSync("/proc").filter((pid) => {
        try {
          return /^\d+$/.test(pid) && readlinkSync(`/proc/${pid}/cwd`) === dir.path;
        } catch {
          return false;
        }
      });
      expect(running).toEqual([]);
    });
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
