// The stamp of a file's state, made from its content.
import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import type { FileStamp } from "./file-memory.ts";

/** A larger file is not read to its end for its stamp. */
export const maxStampedBytes = 200 * 1024 * 1024;

/** Makes the stamp of a content that comes in pieces. */
export interface Stamper {
  add(bytes: Uint8Array): void;
  stamp(): FileStamp;
}

export function createStamper(): Stamper {
  const hasher = new Bun.CryptoHasher("sha256");
  return {
    add: (bytes) => void hasher.update(bytes),
    stamp: () => hasher.digest("base64"),
  };
}

export function stampOf(content: Uint8Array): FileStamp {
  const stamper = createStamper();
  stamper.add(content);
  return stamper.stamp();
}

/** The stamp of an open file too large for its content to be read; any change of it gives another one. */
export async function stampLarge(file: FileHandle): Promise<FileStamp> {
  const { dev, ino, size, mtimeNs, ctimeNs } = await file.stat({ bigint: true });
  return `large ${dev} ${ino} ${size} ${mtimeNs} ${ctimeNs}`;
}

/** The stamp of the file as it is on disk now; undefined when there is none. Throws the file system's other errors. */
export async function stampFile(path: string): Promise<FileStamp | undefined> {
  const file = await openIfThere(path);
  if (!file) return undefined;
  try {
    if ((await file.stat()).size > maxStampedBytes) return await stampLarge(file);
    const stamper = createStamper();
    const buffer = new Uint8Array(1024 * 1024);
    for (;;) {
      const { bytesRead } = await file.read(buffer, 0, buffer.length);
      if (bytesRead === 0) return stamper.stamp();
      stamper.add(buffer.subarray(0, bytesRead));
    }
  } finally {
    await file.close();
  }
}

async function openIfThere(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
