// The folder that a working directory's sessions lie in.
import { join } from "node:path";
import { utf8Length } from "../util/utf8.ts";

/** What file systems allow a name to have; in bytes. */
const longest = 255;
/** Of a path that is too long for a name; in bytes, with room for what tells it apart. */
const keptEnd = 200;

/** `<root>/--<path>--`, where `<path>` is the working directory with `-` for its separators; of a very long one its hash and its end. */
export function sessionFolder(root: string, cwd: string): string {
  const fromRoot = cwd.startsWith("/") || cwd.startsWith("\\") ? cwd.slice(1) : cwd;
  const path = fromRoot.replaceAll("/", "-").replaceAll("\\", "-").replaceAll(":", "-");
  const name = `--${path}--`;
  if (utf8Length(name) <= longest) return join(root, name);
  const hash = new Bun.CryptoHasher("sha256").update(cwd).digest("hex").slice(0, 16);
  return join(root, `--${hash}-${endOf(path, keptEnd)}--`);
}

/** The last whole characters that have no more than `bytes` in all. */
function endOf(text: string, bytes: number): string {
  const tail = Buffer.from(text).subarray(-bytes);
  const start = tail.findIndex((byte) => (byte & 0xc0) !== 0x80);
  return tail.toString("utf8", start);
}
