/** Minimal files of each format. */

const hex = (value: string) => Buffer.from(value.replaceAll(' ', ''), 'hex');
const latin = (value: string) => Buffer.from(value, 'latin1');

function chunk(type: string, data: Buffer): Buffer {
  const head = Buffer.alloc(4);
  head.writeUInt32BE(data.length);
  // The checksums are not read.
  return Buffer.concat([head, latin(type), data, Buffer.alloc(4)]);
}

export function png(width = 1, height = 1, data: Uint8Array = Buffer.alloc(8, 1)): Buffer {
  const size = Buffer.alloc(13);
  size.writeUInt32BE(width, 0);
  size.writeUInt32BE(height, 4);
  size.set([8, 2], 8);
  const parts = [chunk('IHDR', size), chunk('IDAT', Buffer.from(data)), chunk('IEND', Buffer.alloc(0))];
  return Buffer.concat([hex('89504e470d0a1a0a'), ...parts]);
}

export function jpeg(width = 1, height = 1): Buffer {
  const frame = hex('ffc0 0011 08 0000 0000 03 012200 021101 031101');
  frame.writeUInt16BE(height, 5);
  frame.writeUInt16BE(width, 7);
  return Buffer.concat([hex('ffd8 ffe0 0010 4a46494600 0101 00 0001 0001 0000'), frame, hex('ffd9')]);
}

export function gif(width = 1, height = 1): Buffer {
  const bytes = Buffer.concat([latin('GIF89a'), hex('0000 0000 80 00 00 000000 ffffff'), latin(';')]);
  bytes.writeUInt16LE(width, 6);
  bytes.writeUInt16LE(height, 8);
  return bytes;
}

export function webp(form: 'VP8 ' | 'VP8L' | 'VP8X', width: number, height: number): Buffer {
  const bytes = Buffer.alloc(40);
  bytes.write('RIFF', 0, 'latin1');
  bytes.writeUInt32LE(32, 4);
  bytes.write(`WEBP${form}`, 8, 'latin1');
  bytes.writeUInt32LE(20, 16);
  if (form === 'VP8X') {
    bytes.writeUIntLE(width - 1, 24, 3);
    bytes.writeUIntLE(height - 1, 27, 3);
  } else if (form === 'VP8 ') {
    bytes.set([0x9d, 0x01, 0x2a], 23);
    bytes.writeUInt16LE(width, 26);
    bytes.writeUInt16LE(height, 28);
  } else {
    bytes[20] = 0x2f;
    bytes.writeUInt32LE(width - 1 + (height - 1) * 2 ** 14, 21);
  }
  return bytes;
}

/** Entries are stored, not compressed. */
export function zip(entries: Readonly<Record<string, string | Buffer>>): Buffer {
  const files: Buffer[] = [];
  const list: Buffer[] = [];
  let offset = 0;
  for (const [name, content] of Object.entries(entries)) {
    const data = Buffer.from(content);
    const head = Buffer.alloc(30);
    head.writeUInt32LE(0x04034b50, 0);
    head.writeUInt32LE(data.length, 18);
    head.writeUInt32LE(data.length, 22);
    head.writeUInt16LE(name.length, 26);
    const entry = Buffer.alloc(46);
    entry.writeUInt32LE(0x02014b50, 0);
    entry.writeUInt32LE(data.length, 20);
    entry.writeUInt32LE(data.length, 24);
    entry.writeUInt16LE(name.length, 28);
    entry.writeUInt32LE(offset, 42);
    files.push(head, latin(name), data);
    list.push(entry, latin(name));
    offset += 30 + name.length + data.length;
  }
  const central = Buffer.concat(list);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(Object.keys(entries).length, 8);
  end.writeUInt16LE(Object.keys(entries).length, 10);
  end.writeUInt32LE(central.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...files, central, end]);
}

/** With `before`, the entry with its type comes after this many bytes. */
export function office(kind: 'spreadsheetml.sheet' | 'wordprocessingml.document', before = 0): Buffer {
  const type = `application/vnd.openxmlformats-officedocument.${kind}.main+xml`;
  const types = `<?xml version="1.0"?><Types><Override PartName="/main.xml" ContentType="${type}"/></Types>`;
  const padding = before > 0 ? { 'media/image1.bin': Buffer.alloc(before, 7) } : {};
  return zip({ ...padding, '[Content_Types].xml': types, 'main.xml': '<x/>' });
}

export function mp3(): Buffer {
  const frame = Buffer.alloc(417);
  frame.set([0xff, 0xfb, 0x90, 0x00]);
  return Buffer.concat([frame, frame, frame]);
}

export function ogg(codec: string): Buffer {
  const bytes = Buffer.alloc(128);
  bytes.write('OggS', 0, 'latin1');
  bytes.set([2], 5);
  bytes.set([1, 30], 26);
  bytes.write(codec, 28, 'latin1');
  return bytes;
}

export function isoMedia(brand: string): Buffer {
  const bytes = Buffer.alloc(64);
  bytes.writeUInt32BE(24, 0);
  bytes.write(`ftyp${brand}`, 4, 'latin1');
  return bytes;
}

export function tar(): Buffer {
  const bytes = Buffer.alloc(1024);
  bytes.write('a.txt', 0, 'latin1');
  bytes.write('        ', 148, 'latin1');
  bytes.write('ustar\u000000', 257, 'latin1');
  const sum = bytes.subarray(0, 512).reduce((total, each) => total + each, 0);
  bytes.write(`${sum.toString(8).padStart(6, '0')}\u0000 `, 148, 'latin1');
  return bytes;
}

export const WEBM = hex(
  '1a45dfa3 a3 4286 81 01 42f7 81 01 42f2 81 04 42f3 81 08 4282 84 7765626d 4287 81 04 4285 81 02',
);
export const SEVEN_ZIP = hex('377abcaf271c 0004 00000000 00000000');
export const GZIP = hex('1f8b0800000000000003030000000000');
export const WAV = latin('RIFF\u0024\u0000\u0000\u0000WAVEfmt ');
export const FLAC = latin('fLaC\u0000\u0000\u0000\u0022');
export const ICO = hex('00000100 0100 1010 0000 0100 2000 68040000 16000000');
export const BMP = hex('424d3a00000000000000360000002800000001000000');
export const PDF = latin('%PDF-1.4\n%%EOF\n');
export const OLE = hex(`d0cf11e0a1b11ae1${'00'.repeat(600)}`);
