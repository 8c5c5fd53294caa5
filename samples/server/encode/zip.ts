import { crc32, deflateRawSync } from 'node:zlib';

export interface ZipEntry {
  readonly name: string;
  readonly bytes: Uint8Array;
}

const VERSION = 20;
const UTF8_NAMES = 0x0800;
const DEFLATED = 8;
/** The first day that ZIP can write, so that the same entries always give the same bytes. */
const DOS_DATE = 0x0021;

export function encodeZip(entries: readonly ZipEntry[]): Uint8Array {
  const files: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const entry of entries) {
    const data = deflateRawSync(entry.bytes);
    const name = Buffer.from(entry.name, 'utf8');
    const facts = describeEntry(entry, { name, data });
    const file = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), facts, name, data]);
    directory.push(writeDirectoryEntry(facts, name, offset));
    files.push(file);
    offset += file.length;
  }
  return Buffer.concat([
    ...files,
    ...directory,
    writeEnd(entries.length, Buffer.concat(directory).length, offset),
  ]);
}

/** The 26 bytes that a file's own header and its entry in the directory share. */
function describeEntry(entry: ZipEntry, { name, data }: { name: Buffer; data: Buffer }): Buffer {
  const facts = Buffer.alloc(26);
  facts.writeUInt16LE(VERSION, 0);
  facts.writeUInt16LE(UTF8_NAMES, 2);
  facts.writeUInt16LE(DEFLATED, 4);
  facts.writeUInt16LE(DOS_DATE, 8);
  facts.writeUInt32LE(crc32(entry.bytes), 10);
  facts.writeUInt32LE(data.length, 14);
  facts.writeUInt32LE(entry.bytes.length, 18);
  facts.writeUInt16LE(name.length, 22);
  return facts;
}

function writeDirectoryEntry(facts: Buffer, name: Buffer, offset: number): Buffer {
  const start = Buffer.from('PK\x01\x02\0\0', 'latin1');
  start.writeUInt16LE(VERSION, 4);
  const rest = Buffer.alloc(14);
  rest.writeUInt32LE(offset, 10);
  return Buffer.concat([start, facts, rest, name]);
}

function writeEnd(count: number, directoryBytes: number, directoryOffset: number): Buffer {
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 0, 'latin1');
  end.writeUInt16LE(count, 8);
  end.writeUInt16LE(count, 10);
  end.writeUInt32LE(directoryBytes, 12);
  end.writeUInt32LE(directoryOffset, 16);
  return end;
}
