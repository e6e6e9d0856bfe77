// Extended attributes, and the access control lists that Linux keeps among them: the runtime's file functions know neither.
import { open } from "node:fs/promises";
import { openLibc } from "./libc.ts";

/** Bound to the content they were made for, or given by the kernel itself. */
const notCopied = /^security\.(capability|ima|evm)$/;
/** The most that Linux lets a list of names or a value have. */
const maxBytes = 64 * 1024;

/** Gives the open file `to` the attributes that the file `from` has, as far as the system and our rights allow; only on Linux. */
export async function copyExtendedAttributes(from: string, to: number): Promise<void> {
  if (process.platform !== "linux") return;
  try {
    const libc = await loadLibc();
    const source = await open(from, "r");
    try {
      const bytes = new Uint8Array(maxBytes);
      for (const name of listNames(libc, source.fd, bytes)) {
        const length = Number(libc.fgetxattr(source.fd, toCString(name), bytes, bytes.length));
        if (length >= 0 && !notCopied.test(name)) libc.fsetxattr(to, toCString(name), bytes, length, 0);
      }
    } finally {
      await source.close();
    }
  } catch {
    // No C library to ask, or no right to read the file: the new one goes without.
  }
}

type Libc = Awaited<ReturnType<typeof loadLibc>>;

async function loadLibc() {
  const libc = await openLibc({
    flistxattr: { args: ["i32", "ptr", "usize"], returns: "i64" },
    fgetxattr: { args: ["i32", "ptr", "ptr", "usize"], returns: "i64" },
    fsetxattr: { args: ["i32", "ptr", "ptr", "usize", "i32"], returns: "i32" },
  });
  if (!libc) throw new Error("no C library can be loaded");
  return libc;
}

function listNames(libc: Libc, file: number, bytes: Uint8Array): string[] {
  const length = Number(libc.flistxattr(file, bytes, bytes.length));
  const names = new TextDecoder("latin1").decode(bytes.subarray(0, Math.max(0, length)));
  return names.split("\0").filter((name) => name !== "");
}

function toCString(text: string): Uint8Array {
  return Buffer.from(`${text}\0`, "latin1");
}
