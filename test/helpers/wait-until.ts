// Waiting for the world to become as expected; a deadline turns a hang into a failure.

/** Resolves when `condition` holds, looked at every few milliseconds. */
export async function waitUntil(
  condition: () => boolean | Promise<boolean>,
  what: string,
  timeoutMs = 5000,
): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`${timeoutMs} ms passed waiting until ${what}`);
    await Bun.sleep(5);
  }
}
