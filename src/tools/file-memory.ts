// What the agent last saw of each file, so that nothing written by somebody else in between is overwritten unseen.

/**
 * One state of a file on disk. It is made from the content, so that a `touch` or a checkout of the same content makes no other one;
 * only of a file too large to be read for it, from what the file system says.
 */
export type FileStamp = string;

/** Of one conversation: another one begins with a memory of its own. */
export interface FileMemory {
  /** The agent has now seen the file in this state. Paths are absolute, with symlinks resolved. */
  saw(path: string, stamp: FileStamp): void;
  /** The state it was last seen in; undefined when it was never seen. */
  lastSeen(path: string): FileStamp | undefined;
}

export function createFileMemory(): FileMemory {
  const seen = new Map<string, FileStamp>();
  return {
    saw: (path, stamp) => void seen.set(path, stamp),
    lastSeen: (path) => seen.get(path),
  };
}
