// The bytes of an agent's stdout → its records.
import { decodeRecord } from "../protocol/decode.ts";
import type { ReceivedRecord } from "../protocol/record.ts";
import { problemOf } from "../protocol/validate.ts";
import { createLineSplitter, type Line } from "../util/jsonl.ts";
import { ProtocolError } from "./errors.ts";

export interface RecordReaderOptions {
  readonly maxLineBytes: number;
  readonly validate: boolean;
  /** `bytes` is the length of its line. */
  readonly onRecord: (record: ReceivedRecord, bytes: number) => void;
  readonly onError: (error: ProtocolError) => void;
}

export interface RecordReader {
  push(bytes: Uint8Array): void;
  /** Reads a last line that has no end. */
  end(): void;
}

export function createRecordReader({ maxLineBytes, validate, onRecord, onError }: RecordReaderOptions): RecordReader {
  const splitter = createLineSplitter(maxLineBytes);
  const decoder = new TextDecoder("utf-8", { fatal: true });

  function take(line: Line): void {
    if ("tooLong" in line) {
      onError(
        new ProtocolError(`A line of ${line.tooLong} bytes is longer than the ${maxLineBytes} that are read`, ""),
      );
      return;
    }
    let text: string;
    try {
      text = decoder.decode(line.bytes);
    } catch (error) {
      onError(new ProtocolError("A line is not valid UTF-8", new TextDecoder().decode(line.bytes), error));
      return;
    }
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch (error) {
      if (text.trim() !== "") onError(new ProtocolError("A line is not JSON", text, error));
      return;
    }
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      onError(new ProtocolError("A line is no JSON object", text));
      return;
    }
    const problem = validate ? problemOf(value) : undefined;
    if (problem === undefined) onRecord(decodeRecord(value), line.bytes.length);
    else onError(new ProtocolError(`A record is not as it should be, ${problem}`, text));
  }

  return {
    push(bytes) {
      for (const line of splitter.push(bytes)) take(line);
    },
    end() {
      for (const line of splitter.end()) take(line);
    },
  };
}
