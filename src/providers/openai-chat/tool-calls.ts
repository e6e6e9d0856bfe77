// Assembles tool calls from deltas whose index and id may be missing, repeated or wrong: which fragment belongs to which call.
import { createJsonScan, type JsonScan } from "../../util/json-scan.ts";
import { addChunk, type Batch } from "../batch.ts";
import type { CallIds } from "../call-ids.ts";
import { type Loose, toNumber, toObject, toText } from "../json-fields.ts";
import type { Chunk } from "../provider.ts";
import type { ChatToolCallDelta } from "./schema.ts";

interface OpenCall {
  readonly slot: number;
  /** The provider's id, "" where it gave none. */
  readonly id: string;
  name: string;
  started: boolean;
  /** Arguments and what is attached, held back until the name is known. */
  held: string;
  extra: unknown;
  readonly scan: JsonScan;
}

export interface ToolCallAssembler {
  push(delta: Loose<ChatToolCallDelta>, out: Batch): void;
  /** Chunks of calls that never got a name; they still count, and are answered as unknown tools. */
  close(): Chunk[];
  count(): number;
}

/**
 * Rules: a new non-empty id starts a call, even on an index in use (Gemini gives every parallel call index 0). Without an id a fragment
 * belongs to the last call of its index, or to the last call of all where there is no index; when that call's arguments are already
 * a complete JSON object and another `{` follows, it starts a call of its own. Ids are made unique within the answer.
 */
export function createToolCallAssembler(callIds: CallIds): ToolCallAssembler {
  const all: OpenCall[] = [];
  const byIndex = new Map<number, OpenCall>();
  const byId = new Map<string, OpenCall>();

  function open(id: string, index: number | undefined): OpenCall {
    const scan = createJsonScan();
    const call: OpenCall = { slot: all.length, id, name: "", started: false, held: "", extra: undefined, scan };
    all.push(call);
    if (index !== undefined) byIndex.set(index, call);
    if (id !== "") byId.set(id, call);
    return call;
  }

  function find(id: string, index: number | undefined, name: string, text: string): OpenCall {
    const atIndex = index === undefined ? undefined : byIndex.get(index);
    if (id !== "") {
      const known = atIndex?.id === id ? atIndex : byId.get(id);
      // The same id again with a name of its own, on another index or after whole arguments, is a second call whose id collides.
      const elsewhere = index !== undefined && known !== atIndex;
      const again = name !== "" && (elsewhere || (known?.scan.complete() && !isEcho(known, name, text)));
      return known && !again ? known : open(id, index);
    }
    if (index !== undefined) return atIndex ?? open("", index);
    return all.at(-1) ?? open("", undefined);
  }

  function start(call: OpenCall, out: Batch): void {
    call.started = true;
    const id = callIds(call.id, call.slot);
    out.push({ type: "toolcall_start", index: call.slot, id, name: call.name });
    if (call.held !== "") out.push({ type: "toolcall_delta", index: call.slot, delta: call.held });
    call.held = "";
    attach(call, call.extra, out);
  }

  function attach(call: OpenCall, extraContent: unknown, out: Batch): void {
    if (extraContent == null) return;
    if (call.started) out.push({ type: "toolcall_extra", index: call.slot, extraContent });
    else call.extra = extraContent;
  }

  function feed(call: OpenCall, text: string, out: Batch): void {
    if (text === "") return;
    if (call.started) addChunk(out, { type: "toolcall_delta", index: call.slot, delta: text });
    else call.held += text;
  }

  return {
    push(delta, out) {
      const called = toObject<ChatToolCallDelta["function"]>(delta.function);
      let text = toArgumentText(called?.arguments);
      const name = toText(called?.name);
      const id = toText(delta.id);
      const index = toNumber(delta.index);
      let call = find(id, index, name, text);
      // A second name without an id, after the first call's arguments are whole, is a call that lost its id.
      const lostItsId =
        name !== "" && call.name !== "" && id === "" && call.scan.complete() && !isEcho(call, name, text);
      if (lostItsId) call = open("", index);
      if (name !== "" && call.name === "") call.name = name;
      if (!call.started && call.name !== "") start(call, out);
      for (let cut = call.scan.feed(text); cut < text.length; cut = call.scan.feed(text)) {
        feed(call, text.slice(0, cut), out);
        text = text.slice(cut);
        const next = open("", index);
        next.name = call.name;
        call = next;
        start(call, out);
      }
      feed(call, text, out);
      attach(call, delta.extra_content, out);
    },
    close() {
      const out: Batch = [];
      for (const call of all) if (!call.started) start(call, out);
      return out;
    },
    count: () => all.length,
  };
}

/** A fragment that only says the call's name again, as some servers do in every one of them. */
function isEcho(call: OpenCall, name: string, text: string): boolean {
  return name === call.name && text === "";
}

/** Arguments are a string of JSON on the wire; some servers send the object itself. */
function toArgumentText(value: unknown): string {
  if (value == null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}
