// Reading the body of a transport's answer.
import type { Answer } from "../../src/providers/body.ts";

export async function bytesOf({ body }: Answer): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  const reader = body?.getReader();
  for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) pieces.push(part.value);
  return Buffer.concat(pieces);
}

export async function textOf(answer: Answer): Promise<string> {
  return `${await bytesOf(answer)}`;
}
