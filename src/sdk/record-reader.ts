// The bytes of an agent's stdout → its records.
import { decodeRecord } from "../protocol/decode.ts";
import type { ReceivedRecord } from "../protocol/record.ts";
import { problemOf } from "../protocol/validate.ts";
import { createTextSplitter, type TextLine } from "../util/jsonl.ts";
import { ProtocolError } from "./errors.ts";

export interface RecordReaderOptions {
  readonly maxLineBytes: number;
  readonly validate: boolean;
  /** `size` is the length of its line, in characters. */
  readonly onRecord: (record: ReceivedRecord, size: number) => void;
  readonly onError: (error: ProtocolError) => void;
}

export interface RecordReader {
  push(bytes: Uint8Array): void;
  /** Reads a last line that has no end. */
  end(): void;
}

export function createRecordReader({ maxLineBytes, validate, onRecord, onError }: RecordReaderOptions): RecordReader {
  const splitter = createTextSplitter(maxLineBytes);

  function take(text: TextLine): void {
    if (typeof text !== "string") {
      onError(
        "tooLong" in text
          ? new ProtocolError(`A line of ${text.tooLong} bytes is longer than the ${maxLineBytes} that are read`, "")
          : new ProtocolError("A line is not valid UTF-8", new TextDecoder().decode(text.notUtf8)),
      );
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
    if (problem !== undefined) {
      onError(new ProtocolError(`A record is not as it should be, ${problem}`, text));
      return;
    }
    try {
      onRecord(decodeRecord(value), text.length);
    } catch (error) {
      // It lacks what its type promises, which is seen without `validate` only where it is used.
      onError(new ProtocolError("A record is not as it should be", text, error));
    }
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
