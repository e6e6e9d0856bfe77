// The protocol as others may use it: schemas and types of everything on the wire and in session files, and their reading and writing.
export * from "./decode.ts";
export * from "./entry.ts";
export * from "./event.ts";
export * from "./message.ts";
export * from "./model.ts";
export * from "./outcome.ts";
export * from "./record.ts";
export * from "./rpc.ts";
export * from "./session-version.ts";
export * from "./thinking-level.ts";
export * from "./ui.ts";
export * from "./unknown.ts";
export { addUsage, emptyUsage } from "./usage.ts";
export * from "./validate.ts";
