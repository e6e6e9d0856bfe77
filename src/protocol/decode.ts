// Between JSON and the types of the protocol.
import type { Entry } from "./entry.ts";
import type { Message } from "./message.ts";
import type { ReceivedRecord } from "./record.ts";
import type { OrUnknown } from "./unknown.ts";

export declare function decodeRecord(value: object): ReceivedRecord;
export declare function encodeRecord(record: ReceivedRecord): object;
export declare function decodeMessage(value: object): OrUnknown<Message>;
export declare function encodeMessage(message: OrUnknown<Message>): object;
export declare function decodeEntry(value: object): OrUnknown<Entry>;
export declare function encodeEntry(entry: OrUnknown<Entry>): object;
