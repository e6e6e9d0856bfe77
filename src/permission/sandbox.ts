// A sandbox for commands, where the system has one: the machine is read-only but for the working directory and temp, there is no network,
// and what holds keys is out of sight. On Linux bubblewrap, on macOS sandbox-exec.
import { existsSync, realpathSync, statSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { AppError } from "../util/error.ts";
import { isInside } from "../util/paths.ts";

/** Puts a command into the sandbox. */
export type Sandbox = (command: readonly string[]) => string[];

/** All paths absolute, existing, with symlinks resolved. */
export interface SandboxPlan {
  readonly cwd: string;
  /** Where temporary files go; writable. */
  readonly temp: readonly string[];
  /** Folders and files that hold keys. */
  readonly hidden: readonly { readonly path: string; readonly isFolder: boolean }[];
  /** Whether commands reach the network. */
  readonly network: boolean;
}

export interface SandboxOptions {
  readonly cwd: string;
  /** The folder of our own configuration. */
  readonly ownFolder: string;
  readonly network: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
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
  const plan = planSandbox(options);
  if (plan.cwd === "/") throw new AppError("config", "--sandbox: in / there would be nothing to protect");
  if (process.platform === "darwin")
    return probed((command) => sandboxExecCommand(plan, command), "sandbox-exec", options.env);
  if (process.platform === "linux") {
    if (Bun.which("bwrap", { PATH: options.env.PATH ?? "" }) === null) {
      throw new AppError("config", "--sandbox: bubblewrap is not installed (no bwrap in the PATH)", {
        hint: "Install the package bubblewrap, or run without --sandbox.",
      });
    }
    return probed((command) => bwrapCommand(plan, command), "bwrap", options.env);
  }
  throw new AppError("config", `--sandbox: there is no sandbox for ${process.platform}`);
}

/** Tries it once with a command that does nothing: a container, or the kernel's settings, may refuse it. */
function probed(sandbox: Sandbox, name: string, env: SandboxOptions["env"]): Sandbox {
  let problem: string;
  try {
    const { exitCode, stderr } = Bun.spawnSync(sandbox(["true"]), {
      env: { ...env },
      stdin: "ignore",
      stdout: "ignore",
    });
    if (exitCode === 0) return sandbox;
    problem = stderr.toString().trim().split("\n", 1)[0] || `it ended with ${exitCode}`;
  } catch (error) {
    problem = (error as Error).message;
  }
  throw new AppError("config", `--sandbox: ${name} does not work here: ${problem}`, {
    hint: "A container, or the kernel's settings for user namespaces, may refuse it. Run without --sandbox, or inside a sandbox of your own.",
  });
}

function planSandbox({ cwd, ownFolder, network }: SandboxOptions): SandboxPlan {
  const temp = new Set(["/tmp", tmpdir()].filter(existsSync).map((path) => realpathSync(path)));
  const candidates = [ownFolder, ...secrets.map((name) => join(homedir(), name))].filter(existsSync);
  const hidden = candidates
    .map((path) => realpathSync(path))
    .map((path) => ({ path, isFolder: statSync(path).isDirectory() }));
  return { cwd: realpathSync(cwd), temp: [...temp], hidden, network };
}

/** The argv for bubblewrap; later mounts lie over earlier ones. */
export function bwrapCommand({ cwd, temp, hidden, network }: SandboxPlan, command: readonly string[]): string[] {
  const writable = [...temp, cwd];
  return [
    "bwrap",
    ...["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"],
    // Sockets of services that would do things outside on a command's behalf; a read-only mount does not keep from talking to them.
    ...["--tmpfs", "/run"],
    ...["/run/current-system", "/run/wrappers", "/run/systemd/resolve"].flatMap((path) => [
      "--ro-bind-try",
      path,
      path,
    ]),
    ...writable.flatMap((path) => ["--bind", path, path]),
    ...hidden
      .filter(({ path }) => !isInside(path, cwd))
      .flatMap(({ path, isFolder }) => (isFolder ? ["--tmpfs", path] : ["--ro-bind", "/dev/null", path])),
    ...["--unshare-pid", "--unshare-ipc", "--unshare-uts", ...(network ? [] : ["--unshare-net"])],
    ...["--cap-drop", "ALL", "--die-with-parent", "--unsetenv", "SSH_AUTH_SOCK"],
    ...["--chdir", cwd, "--", ...command],
  ];
}

/** The argv for sandbox-exec. In its profile the last rule that applies counts. */
export function sandboxExecCommand({ cwd, temp, hidden, network }: SandboxPlan, command: readonly string[]): string[] {
  const text = (path: string) => `"${path.replace(/["\\]/g, "\\$&")}"`;
  const place = (path: string, isFolder = true) => `(${isFolder ? "subpath" : "literal"} ${text(path)})`;
  const secret = hidden.filter(({ path }) => !isInside(path, cwd)).map(({ path, isFolder }) => place(path, isFolder));
  const profile = [
    "(version 1)",
    "(allow default)",
    "(deny file-write*)",
    `(allow file-write* ${[...temp, cwd].map((path) => place(path)).join(" ")} (subpath "/dev"))`,
    ...(secret.length > 0 ? [`(deny file-read* file-write* ${secret.join(" ")})`] : []),
    ...(network ? [] : ["(deny network*)"]),
  ];
  return ["/usr/bin/sandbox-exec", "-p", profile.join("\n"), ...command];
}
