// Whether a file descriptor is a terminal, asked cheaply: only a character device needs the slow question.
import { fstatSync, statSync } from "node:fs";

export function isTerminal(fd: 0 | 1 | 2): boolean {
  try {
    // Windows does not say it of a console.
    const stat = process.platform === "win32" ? undefined : fstatSync(fd);
    if (stat && (!stat.isCharacterDevice() || stat.rdev === nullDevice())) return false;
  } catch {
    return false;
  }
  const { isatty } = require("node:tty") as typeof import("node:tty");
  return isatty(fd);
}

function nullDevice(): number | undefined {
  return statSync("/dev/null", { throwIfNoEntry: false })?.rdev;
}
