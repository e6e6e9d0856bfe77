// The user's home directory. Where a variable says it, the runtime's `node:os` need not be loaded, which every start would wait for.

/** `$HOME` (Windows: `%USERPROFILE%`), or what the system's user database says. */
export function homeDirectory(): string {
  const variable = process.platform === "win32" ? "USERPROFILE" : "HOME";
  return process.env[variable] || (require("node:os") as typeof import("node:os")).homedir();
}
