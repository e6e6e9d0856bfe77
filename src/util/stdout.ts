// Stdout through Bun's own writer: the first touch of `process.stdout` costs as much as the rest of the start.

let writer: ReturnType<typeof Bun.stdout.writer> | undefined;
let failure: NodeJS.ErrnoException | undefined;

/** Queues text for stdout, in order. After the reader has gone away nothing more is written. */
export function queueStdout(text: string): void {
  writer ??= Bun.stdout.writer();
  if (failure !== undefined) return;
  try {
    const written: unknown = writer.write(text);
    if (written instanceof Promise) written.catch(failStdout);
  } catch (error) {
    failStdout(error);
  }
}

/** Nothing more is written, for this reason. */
export function failStdout(error: unknown): void {
  failure ??= error as NodeJS.ErrnoException;
}

/** Why what was queued could not be written, such as a reader that has gone away (`EPIPE`) or a full disk. */
export function stdoutFailure(): NodeJS.ErrnoException | undefined {
  return failure;
}

/** Resolves when all that was queued is written, or cannot be; see `stdoutFailure`. */
export async function flushStdout(): Promise<void> {
  if (failure !== undefined) return;
  try {
    await writer?.flush();
  } catch (error) {
    failStdout(error);
  }
}

export async function writeStdout(text: string): Promise<void> {
  queueStdout(text);
  await flushStdout();
}
