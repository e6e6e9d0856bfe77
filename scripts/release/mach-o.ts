// Signatures of macOS programs. Bun 1.4.5 signs what it compiles for arm64, but for x64 it leaves its own signature on a changed file,
// which macOS may end at once; such a file gets an ad-hoc signature here, which says who signed nothing but fits every page.
// See <mach-o/loader.h> for the file (little-endian) and <kern/cs_blobs.h> for the signature (big-endian).

const segmentCommand = 0x19;
const signatureCommand = 0x1d;
const superBlobMagic = 0xfade0cc0;
const directoryMagic = 0xfade0c02;
const sha256Type = 2;
const hashSize = 32;
const pageBits = 12;
const pageSize = 2 ** pageBits;
/** As linkers sign: ad hoc, and with the word that any tool may sign anew. */
const adHocFlags = 0x2 | 0x20000;

interface Layout {
  /** Where the command stands that says where the signature is. */
  readonly command: number;
  /** Where the signature begins, and the signed part of the file ends. */
  readonly signature: number;
  /** Where the commands of the first and the last segment stand. */
  readonly text: number;
  readonly linkEdit: number;
}

export function signatureState(bytes: Buffer): "signed" | "unsigned" | "with a stale signature" {
  const layout = readLayout(bytes);
  if (!layout) return "unsigned";
  return fits(bytes, layout.signature) ? "signed" : "with a stale signature";
}

/** The same program with a new ad-hoc signature; throws when there is no place for one. */
export function signAdHoc(bytes: Buffer, identifier: string): Buffer {
  const layout = readLayout(bytes);
  if (!layout) throw new Error("the program has no place for a signature");
  const { command, signature, text, linkEdit } = layout;
  const name = Buffer.from(`${identifier}\0`);
  const slots = Math.ceil(signature / pageSize);
  const headerSize = 88;
  const directorySize = headerSize + name.length + slots * hashSize;
  const blobStart = 20;
  const size = blobStart + directorySize;

  const signed = Buffer.concat([bytes.subarray(0, signature), Buffer.alloc(size)]);
  // The load commands are on a page that is hashed, so they come first.
  signed.writeUInt32LE(size, command + 12);
  const linkEditSize = signed.length - Number(signed.readBigUInt64LE(linkEdit + 40));
  signed.writeBigUInt64LE(BigInt(Math.ceil(linkEditSize / 0x4000) * 0x4000), linkEdit + 32);
  signed.writeBigUInt64LE(BigInt(linkEditSize), linkEdit + 48);

  const directory = signature + blobStart;
  writeNumbers(signed, signature, [superBlobMagic, size, 1, 0, blobStart]);
  writeNumbers(signed, directory, [directoryMagic, directorySize, 0x20400, adHocFlags]);
  writeNumbers(signed, directory + 16, [headerSize + name.length, headerSize, 0, slots, signature]);
  signed.set([hashSize, sha256Type, 0, pageBits], directory + 36);
  signed.writeBigUInt64BE(signed.readBigUInt64LE(text + 40), directory + 64);
  signed.writeBigUInt64BE(signed.readBigUInt64LE(text + 48), directory + 72);
  signed.writeBigUInt64BE(1n, directory + 80);
  signed.set(name, directory + headerSize);
  const hashes = directory + headerSize + name.length;
  for (let slot = 0; slot < slots; slot++) signed.set(hashPage(signed, slot, signature), hashes + slot * hashSize);
  return signed;
}

function writeNumbers(bytes: Buffer, at: number, numbers: readonly number[]): void {
  numbers.forEach((number, i) => {
    bytes.writeUInt32BE(number, at + 4 * i);
  });
}

function readLayout(bytes: Buffer): Layout | undefined {
  const commands: Partial<Record<"command" | "text" | "linkEdit", number>> = {};
  const count = bytes.readUInt32LE(16);
  for (let at = 32, i = 0; i < count; i++, at += bytes.readUInt32LE(at + 4)) {
    const kind = bytes.readUInt32LE(at);
    if (kind === signatureCommand) commands.command = at;
    if (kind !== segmentCommand) continue;
    const name = bytes.toString("latin1", at + 8, at + 24).replace(/\0.*/, "");
    if (name === "__TEXT") commands.text = at;
    if (name === "__LINKEDIT") commands.linkEdit = at;
  }
  const { command, text, linkEdit } = commands;
  if (command === undefined || text === undefined || linkEdit === undefined) return undefined;
  return { command, text, linkEdit, signature: bytes.readUInt32LE(command + 8) };
}

/** Whether the code directory covers all that stands before it, and has the hash of each page. */
function fits(bytes: Buffer, signature: number): boolean {
  const directory = findDirectory(bytes, signature);
  if (directory === undefined || bytes[directory + 37] !== sha256Type || bytes[directory + 39] !== pageBits)
    return false;
  const [hashes, slots, limit] = [16, 28, 32].map((at) => bytes.readUInt32BE(directory + at)) as [
    number,
    number,
    number,
  ];
  if (limit !== signature || slots !== Math.ceil(limit / pageSize)) return false;
  for (let slot = 0; slot < slots; slot++) {
    const at = directory + hashes + slot * hashSize;
    if (!hashPage(bytes, slot, limit).equals(bytes.subarray(at, at + hashSize))) return false;
  }
  return true;
}

function findDirectory(bytes: Buffer, signature: number): number | undefined {
  if (bytes.readUInt32BE(signature) !== superBlobMagic) return undefined;
  const count = bytes.readUInt32BE(signature + 8);
  for (let at = signature + 12, i = 0; i < count; i++, at += 8) {
    if (bytes.readUInt32BE(at) === 0) return signature + bytes.readUInt32BE(at + 4);
  }
  return undefined;
}

/** The last page ends where the signed part does. */
function hashPage(bytes: Buffer, slot: number, limit: number): Buffer {
  const page = bytes.subarray(slot * pageSize, Math.min((slot + 1) * pageSize, limit));
  return new Bun.CryptoHasher("sha256").update(page).digest();
}
