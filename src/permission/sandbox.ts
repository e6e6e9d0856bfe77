// A sandbox for commands, where the system has one: the machine is read-only but for the working directory and temp, there is no network,
// and what holds keys is out of sight. On Linux bubblewrap, on macOS sandbox-exec.
import { existsSync, realpathSync, statSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import type { Environment } from "../util/environment.ts";
import { AppError } from "../util/error.ts";
import { findProgram } from "../util/find-program.ts";
import { outputFolder } from "../util/output-folder.ts";
import { isInside } from "../util/paths.ts";
import { makeTempFolder } from "../util/temp-folder.ts";

/** Puts a command into the sandbox. */
export type Sandbox = (command: readonly string[]) => string[];

/** All paths absolute, existing, with symlinks resolved. */
export interface SandboxPlan {
  readonly cwd: string;
  /** Where temporary files go; writable. */
  readonly temp: readonly string[];
  /** What stands in for all of `temp` on Linux, and the full outputs of earlier commands, which stay readable. */
  readonly privateTemp: string;
  readonly outputs: string;
  /** Folders and files that hold keys, but for those that the working directory is in. */
  readonly hidden: readonly { readonly path: string; readonly isFolder: boolean }[];
  /** Whether commands reach the network. */
  readonly network: boolean;
}

export interface SandboxOptions {
  readonly cwd: string;
  /** The folder of our own configuration. */
  readonly ownFolder: string;
  readonly network: boolean;
  readonly env: Environment;
}

/** What holds keys in a home directory. */
const secrets = [
  ".ssh",
  ".gnupg",
  ".aws",
  ".azure",
  ".kube",
  ".docker",
  ".config/gcloud",
  ".config/gh",
  ".netrc",
  ".git-credentials",
];

/** Throws `AppError` `config` when there is no sandbox here, or when it does not work. */
export function createSandbox(options: SandboxOptions): Sandbox {
  const realCwd = realpathSync(options.cwd);
  if (realCwd === "/") {
    throw new AppError("config", "--sandbox: in / there would be nothing to protect");
  }
  const plan = planSandbox(options);
  if (process.platform === "darwin")
    return probed((command) => sandboxExecCommand(plan, command), "sandbox-exec", options.env);
  if (process.platform === "linux") {
    const bwrap = findProgram("bwrap", options.env.PATH, realCwd);
    if (bwrap === undefined) {
      throw new AppError("config", "--sandbox: bubblewrap is not installed (no bwrap in the PATH)", {
        hint: "Install the package bubblewrap, or run without --sandbox.",
      });
    }
    return probed((command) => bwrapCommand(bwrap, plan, command), "bwrap", options.env);
  }
  throw new AppError("config", `--sandbox: there is no sandbox for ${process.platform}`);
}

/** A sandbox that takes longer to do nothing does not work. */
const probeMs = 5000;

/** Tries it once with a command that does nothing: a container, or the kernel's settings, may refuse it. */
function probed(sandbox: Sandbox, name: string, env: SandboxOptions["env"]): Sandbox {
  let problem: string;
  try {
    const { exitCode, exitedDueToTimeout, stderr } = Bun.spawnSync(sandbox(["true"]), {
      env: { ...env },
      stdin: "ignore",
      stdout: "ignore",
      timeout: probeMs,
      killSignal: "SIGKILL",
    });
    if (exitCode === 0) return sandbox;
    const ending = exitedDueToTimeout ? `it does not end within ${probeMs / 1000} s` : `it ended with ${exitCode}`;
    problem = stderr.toString().trim().split("\n", 1)[0] || ending;
  } catch (error) {
    problem = (error as Error).message;
  }
  throw new AppError("config", `--sandbox: ${name} does not work here: ${problem}`, {
    hint: "A container, or the kernel's settings for user namespaces, may refuse it. Run without --sandbox, or inside a sandbox of your own.",
  });
}

export function planSandbox({ cwd, ownFolder, network }: SandboxOptions): SandboxPlan {
  const realCwd = realpathSync(cwd);
  const temp = new Set(["/tmp", tmpdir()].filter(existsSync).map((path) => realpathSync(path)));
  const hidden = [ownFolder, ...secrets.map((name) => join(homedir(), name))]
    .filter(existsSync)
    .map((path) => realpathSync(path))
    .filter((path) => !isInside(path, realCwd))
    .map((path) => ({ path, isFolder: statSync(path).isDirectory() }));
  const folders = { privateTemp: makeTempFolder("pi-ts-sandbox"), outputs: outputFolder() };
  return { cwd: realCwd, temp: [...temp], ...folders, hidden, network };
}

/** They name sockets through which a command would act outside. */
const sessionVariables = [
  "TMUX",
  "TMUX_PANE",
  "STY",
  "SSH_AUTH_SOCK",
  "SSH_AGENT_PID",
  "GPG_AGENT_INFO",
  "DISPLAY",
  "XAUTHORITY",
  "WAYLAND_DISPLAY",
  "WAYLAND_SOCKET",
  "DBUS_SESSION_BUS_ADDRESS",
  "DBUS_SYSTEM_BUS_ADDRESS",
  "DBUS_STARTER_ADDRESS",
  "DBUS_STARTER_BUS_TYPE",
  "SESSION_MANAGER",
  "VSCODE_IPC_HOOK_CLI",
];

/** What root may write to without any capability, since the files are its own; one of them names a program that the kernel starts outside. */
const kernelSettings = ["/proc/sys", "/proc/sysrq-trigger", "/proc/fs"];

/**
 * The argv for bubblewrap; later mounts lie over earlier ones. A read-only mount does not keep a command from talking to the sockets in it,
 * and who listens there would act outside on its behalf: so /run is empty, and temp is a folder of our own. What a command leaves running
 * goes on in its sandbox when the command has ended, so bubblewrap is not told to end with its parent; the tool ends it with everything else.
 */
export function bwrapCommand(bwrap: string, plan: SandboxPlan, command: readonly string[]): string[] {
  const { cwd, temp, privateTemp, outputs, hidden, network } = plan;
  return [
    bwrap,
    ...["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"],
    ...kernelSettings.flatMap((path) => ["--ro-bind-try", path, path]),
    ...["--tmpfs", "/run"],
    ...["/run/current-system", "/run/wrappers", "/run/systemd/resolve"].flatMap((path) => [
      "--ro-bind-try",
      path,
      path,
    ]),
    ...temp.flatMap((path) => ["--bind", privateTemp, path]),
    ...["--ro-bind-try", outputs, outputs],
    ...["--bind", cwd, cwd],
    ...hidden.flatMap(({ path, isFolder }) => (isFolder ? ["--tmpfs", path] : ["--ro-bind", "/dev/null", path])),
    ...["--unshare-pid", "--unshare-ipc", "--unshare-uts", ...(network ? [] : ["--unshare-net"])],
    ...["--cap-drop", "ALL", ...sessionVariables.flatMap((name) => ["--unsetenv", name])],
    ...["--chdir", cwd, "--", ...command],
  ];
}

/** The argv for sandbox-exec. In its profile the last rule that applies counts. */
export function sandboxExecCommand({ cwd, temp, hidden, network }: SandboxPlan, command: readonly string[]): string[] {
  const text = (path: string) => `"${path.replace(/["\\]/g, "\\$&")}"`;
  const place = (path: string, isFolder = true) => `(${isFolder ? "subpath" : "literal"} ${text(path)})`;
  const secret = hidden.map(({ path, isFolder }) => place(path, isFolder));
  const profile = [
    "(version 1)",
    "(allow default)",
    "(deny file-write*)",
    `(allow file-write* ${[...temp, cwd].map((path) => place(path)).join(" ")} (subpath "/dev"))`,
    ...(secret.length > 0 ? [`(deny file-read* file-write* ${secret.join(" ")})`] : []),
    ...(network ? [] : ["(deny network*)"]),
  ];
  const withoutSession = ["/usr/bin/env", ...sessionVariables.flatMap((name) => ["-u", name])];
  return ["/usr/bin/sandbox-exec", "-p", profile.join("\n"), ...withoutSession, ...command];
}
