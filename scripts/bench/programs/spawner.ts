// Runs the program that its argument describes, and prints what that took. It is small: the peak of a child counts from that of whoever starts it.
const { command, ...options } = JSON.parse(process.argv[2] ?? "{}");
const start = Bun.nanoseconds();
const result = Bun.spawnSync(command, { ...options, stdio: ["ignore", "ignore", "pipe"] });
const wall = (Bun.nanoseconds() - start) / 1e6;
const { exitCode, signalCode, exitedDueToTimeout = false, resourceUsage } = result;
const sample = { wall, peak: resourceUsage.maxRSS / 1e6, leastPeak: process.memoryUsage.rss() / 1e6 };
console.log(JSON.stringify({ sample, exitCode, signalCode, exitedDueToTimeout, stderr: `${result.stderr}` }));

export {};
