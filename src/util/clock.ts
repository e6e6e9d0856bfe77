// The clock of durations and deadlines: milliseconds since the program began, whatever is done to the time of day.
// `performance.now()` tells nearly the same, and takes a while to be made.

export function now(): number {
  return Bun.nanoseconds() / 1e6;
}
