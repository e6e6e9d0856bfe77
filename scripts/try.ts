// Builds the program and runs its main job on the embedded default, which needs no key and no network.
import { constants } from "node:os";
import { buildBinary } from "./build.ts";

const command = [await buildBinary(), "demo", ...process.argv.slice(2)];
const demo = Bun.spawn(command, { stdio: ["inherit", "inherit", "inherit"] });

// The terminal sends Ctrl-C to both; only the demo decides what it means.
process.on("SIGINT", () => {});
process.on("SIGTERM", () => demo.kill("SIGTERM"));
const code = await demo.exited;
process.exit(
  demo.signalCode ? 128 + (constants.signals[demo.signalCode as keyof typeof constants.signals] ?? 0) : code,
);
