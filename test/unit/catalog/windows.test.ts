import assert from 'node:assert/strict';
import {
  appendFileSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it, mock } from 'node:test';
import fc from 'fast-check';
import { FileChanged, inspectFile, readRange } from '../../../src/assets/confined.ts';
import { CatalogRefusal, type FoundEntry } from '../../../src/catalog/entry.ts';
import {
  type FileWindow,
  REST_BYTES,
  readWindow,
  textWindow,
  type WindowRequest,
} from '../../../src/catalog/windows.ts';
import { needsSymlinks } from '../../windows/needs.ts';
import { useChatFolder } from '../assets/folder.ts';

const chat = useChatFolder();
const nameOf = (extension: string) => `tool-file-20261116-093012-V1StGXR8a0-1.${extension}`;

/** As the catalog finds an asset. */
function found(extension: string, content?: string | Uint8Array): FoundEntry {
  const asset = nameOf(extension);
  const path = chat.asset(asset);
  if (content !== undefined) writeFileSync(path, content);
  const listed = { chat: 'a.chat.md', size: 0, changed: new Date(0), mimeType: 'x/y' };
  return {
    entry: { kind: 'asset', asset, assetKind: 'file', uri: `filechat://a.chat.md/${asset}`, ...listed },
    path,
  };
}

const bodyOf = ({ body }: FileWindow): string =>
  body.kind === 'text' ? body.text : `bytes ${Buffer.from(body.bytes).toString('hex')}`;
const refused = (entry: FoundEntry, request: WindowRequest, words: RegExp) =>
  assert.rejects(readWindow(entry, request), (error: Error) => {
    assert.ok(error instanceof CatalogRefusal);
    assert.match(error.message, words);
    assert.ok(!error.message.includes(chat.path), 'no path of the machine goes out');
    return true;
  });

describe('a window of a file', () => {
  const cases: Record<string, [content: string | Uint8Array, extension: string, WindowRequest, string]> = {
    'is its text': ['a,é\n', 'csv', { maxBytes: 99 }, 'a,é\n'],
    'ends between two characters': ['a,é\n', 'csv', { maxBytes: 3 }, 'a,'],
    'begins between two characters': ['a,é\n', 'csv', { start: 3, maxBytes: 4 }, 'é\n'],
    'keeps a byte order mark': ['\ufeffa', 'json', { maxBytes: 99 }, '\ufeffa'],
    'is bytes where they are requested': ['aé', 'txt', { maxBytes: 2, as: 'bytes' }, 'bytes 61c3'],
    'is bytes of an image': [
      Buffer.from('89504e470d0a1a0a', 'hex'),
      'png',
      { maxBytes: 4 },
      'bytes 89504e47',
    ],
    'is bytes where text is not UTF-8': [
      Buffer.from('caf\xe9 x', 'latin1'),
      'txt',
      { maxBytes: 9 },
      'bytes 636166e92078',
    ],
    'is bytes where text contains a NUL': ['a\0b\0', 'txt', { maxBytes: 9 }, 'bytes 61006200'],
    'is text again where the bytes are': [
      Buffer.from('\xe9\nplain', 'latin1'),
      'txt',
      { start: 2, maxBytes: 9 },
      'plain',
    ],
    'is the markup of an SVG': ['<svg xmlns="a"/>', 'svg', { maxBytes: 4 }, '<svg'],
    'is text where no table knows the type': ['all: test\n', 'bin', { maxBytes: 99 }, 'all: test\n'],
    'is empty at the end': ['abc', 'txt', { start: 3, maxBytes: 9 }, ''],
    'is empty for an empty file': ['', 'txt', { maxBytes: 9 }, ''],
  };
  for (const [name, [content, extension, request, expected]] of Object.entries(cases)) {
    it(name, async () =>
      assert.equal(bodyOf(await readWindow(found(extension, content), request)), expected),
    );
  }

  it('has its type, its bounds and the next start', async () => {
    const { body: _body, ...about } = await readWindow(found('csv', 'a,é\n'), { start: 1, maxBytes: 2 });
    assert.deepEqual(about, { mimeType: 'text/csv', totalBytes: 5, start: 1, byteCount: 1, nextStart: 2 });
    const last = await readWindow(found('csv', 'a,é\n'), { start: 2, maxBytes: 99 });
    assert.equal(last.nextStart, undefined);
    assert.equal((await readWindow(found('bin', 'plain'), { maxBytes: 9 })).mimeType, 'text/plain');
    const bytes = Buffer.from('caf\xe9', 'latin1');
    assert.equal(
      (await readWindow(found('bin', bytes), { maxBytes: 9 })).mimeType,
      'application/octet-stream',
    );
  });

  it('is refused beyond the end, with the size', () =>
    refused(found('txt', 'abc'), { start: 4, maxBytes: 9 }, /byte 4.*3 bytes/));

  it('is refused when it is smaller than one character, with the bytes it needs', () =>
    refused(found('txt', '😀'), { maxBytes: 3 }, /4 bytes.*maxBytes of 4/));
});

/** The number of bytes requested and read from the disk meanwhile. */
async function countReads(work: () => Promise<unknown>): Promise<{ asked: number; came: number }> {
  const any = await open(import.meta.filename);
  const counts = { asked: 0, came: 0 };
  const read = mock.method(Object.getPrototypeOf(any), 'read');
  try {
    await work();
    for (const call of read.mock.calls) {
      const [buffer] = call.arguments;
      counts.asked += buffer.length;
      counts.came += (await call.result).bytesRead;
    }
  } finally {
    read.mock.restore();
    await any.close();
  }
  return counts;
}

describe('a file of 1 GB', () => {
  const GB = 1024 ** 3;
  for (const [what, extension] of [
    ['bytes', 'mp4'],
    ['text', 'log'],
  ] as const) {
    it(`gives a window of its ${what} for that window and the head`, async () => {
      const entry = found(extension, 'begin');
      truncateSync(entry.path, GB);
      const before = process.memoryUsage().arrayBuffers;
      let window: FileWindow | undefined;
      const { asked, came } = await countReads(async () => {
        window = await readWindow(entry, { start: GB - 100_000, maxBytes: 65_536 });
      });
      assert.equal(window?.byteCount, 65_536);
      assert.equal(window?.nextStart, GB - 100_000 + 65_536);
      assert.ok(asked >= 2 * 65_536 && asked <= 2 * 65_536 + 16, `${asked} bytes were asked for`);
      assert.ok(came <= asked);
      assert.ok(process.memoryUsage().arrayBuffers - before < 1024 * 1024);
    });
  }

  it('gives no more than there is when all of it is asked for near the end', async () => {
    const entry = found('mp4', 'begin');
    truncateSync(entry.path, GB);
    const { asked } = await countReads(() => readWindow(entry, { start: GB - 10, maxBytes: GB }));
    assert.equal(asked, 65_536 + 10);
  });
});

describe('a file that changes', () => {
  it('is read up to its size at the beginning while it grows', async () => {
    const { path } = found('log', 'one\ntwo\n');
    const looked = await inspectFile(path);
    appendFileSync(path, 'three\n');
    assert.equal(Buffer.from(await readRange(path, looked, 4, 99)).toString(), 'two\n');
  });

  it('has windows again from its old end on', async () => {
    const entry = found('log', 'one\n');
    const { nextStart, totalBytes } = await readWindow(entry, { maxBytes: 99 });
    assert.equal(nextStart, undefined);
    appendFileSync(entry.path, 'two\n');
    assert.equal(bodyOf(await readWindow(entry, { start: totalBytes, maxBytes: 99 })), 'two\n');
  });

  it('can be read while it is being appended to', async () => {
    const entry = found('log', 'one\n');
    for (let round = 0; round < 30; round += 1) {
      const reading = readWindow(entry, { maxBytes: 4 });
      const writer = await open(entry.path, 'a');
      for (let line = 0; line < 20; line += 1) await writer.write('more\n');
      await writer.close();
      assert.equal(bodyOf(await reading), 'one\n');
    }
  });

  const changes: Record<string, (path: string) => void> = {
    'is shorter': (path) => truncateSync(path, 3),
    'was written again': (path) => {
      writeFileSync(path, 'ONE\nTWO\n');
      utimesSync(path, 1, 1);
    },
    'is another one': (path) => {
      writeFileSync(`${path}.new`, 'ONE\nTWO\nTHREE\n');
      renameSync(`${path}.new`, path);
    },
    'is a link to another one': (path) => {
      writeFileSync(`${path}.new`, 'ONE\nTWO\nTHREE\n');
      rmSync(path);
      symlinkSync(`${path}.new`, path);
    },
  };
  for (const [name, change] of Object.entries(changes)) {
    it(`is not read when it ${name}`, name.includes('link') ? needsSymlinks : {}, async () => {
      const { path } = found('log', 'one\ntwo\n');
      const looked = await inspectFile(path);
      change(path);
      await assert.rejects(readRange(path, looked, 0, 4), FileChanged);
    });
  }

  it('is reported as unreadable without the system message, which contains its path', async () => {
    const { entry, path } = found('log', 'secret');
    await refused(
      { entry, path: `${path}\0` },
      { maxBytes: 9 },
      /cannot be read: the disk reported an error/,
    );
  });

  it('that became a link is reported', needsSymlinks, async () => {
    const entry = found('log', 'secret');
    renameSync(entry.path, join(chat.path, 'elsewhere'));
    symlinkSync(join(chat.path, 'elsewhere'), entry.path);
    await refused(entry, { maxBytes: 9 }, /was changed while it was being read/);
  });

  it('is reported without a path', async () => {
    const entry = found('log', 'secret');
    renameSync(entry.path, join(chat.path, 'elsewhere'));
    await refused(
      entry,
      { maxBytes: 9 },
      /^filechat:\/\/a\.chat\.md\/tool-.* cannot be read: there is no such file/,
    );
    mkdirSync(entry.path);
    await refused(entry, { maxBytes: 9 }, /cannot be read: it is not a regular file/);
  });
});

/** As a reader does it: with a few bytes before the place and after the window, and no others. */
function windowOf(file: Uint8Array, start: number, maxBytes: number) {
  const offset = Math.max(0, start - REST_BYTES);
  const bytes = file.subarray(offset, start + maxBytes + REST_BYTES);
  return textWindow({ bytes, offset, totalBytes: file.length }, { start, maxBytes });
}

/** All windows, from the beginning on. */
function windowsOf(file: Uint8Array, maxBytes: number): Uint8Array[] {
  const windows: Uint8Array[] = [];
  for (let start = 0; start < file.length; ) {
    const window = windowOf(file, start, maxBytes);
    assert.ok(window.fits);
    assert.equal(window.start, start, 'a window begins where the one before it ended');
    assert.ok(window.end > start, 'each step makes progress');
    assert.ok(window.end - window.start <= maxBytes, 'no window is larger than asked');
    windows.push(file.subarray(window.start, window.end));
    start = window.end;
  }
  return windows;
}

const strict = (bytes: Uint8Array) =>
  new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
const anyText = fc.string({
  unit: fc.oneof(fc.constantFrom('a', 'é', '€', '😀', '\r\n', '\ufeff'), fc.string()),
});
const anySize = fc.integer({ min: 4, max: 12 });
/** Pieces of characters and bytes that no character has. */
const anyBytes = fc.array(
  fc.constantFrom(0x41, 0x80, 0xbf, 0xc3, 0xa9, 0xe2, 0x82, 0xed, 0xa0, 0xf0, 0x9f, 0xff),
);

describe('windows of text', () => {
  it('together are the file, and each is valid text', () => {
    fc.assert(
      fc.property(anyText, anySize, (text, maxBytes) => {
        const windows = windowsOf(Buffer.from(text.toWellFormed()), maxBytes);
        assert.equal(windows.map(strict).join(''), text.toWellFormed());
      }),
    );
  });

  it('together are the file, even if it is not text', () => {
    fc.assert(
      fc.property(anyBytes, anySize, (values, maxBytes) => {
        const file = Uint8Array.from(values);
        assert.deepEqual(Buffer.concat(windowsOf(file, maxBytes)), Buffer.from(file));
      }),
    );
  });

  it('contain the requested byte, anywhere', () => {
    fc.assert(
      fc.property(anyText, fc.nat(), anySize, (text, at, maxBytes) => {
        const file = Buffer.from(`${text.toWellFormed()}.`);
        const start = at % file.length;
        const window = windowOf(file, start, maxBytes);
        assert.ok(window.fits && window.start <= start && start < window.end);
        strict(file.subarray(window.start, window.end));
      }),
    );
  });

  it('are as large as they may be', () => {
    fc.assert(
      fc.property(anyText, anySize, (text, maxBytes) => {
        const windows = windowsOf(Buffer.from(text.toWellFormed()), maxBytes);
        for (const window of windows.slice(0, -1)) assert.ok(window.length > maxBytes - 4);
      }),
    );
  });

  const cases: Record<string, [file: string, start: number, maxBytes: number, expected: unknown]> = {
    'begin with the character that a place is within': ['a€b', 2, 4, { fits: true, start: 1, end: 5 }],
    'are empty at the end': ['a€', 4, 4, { fits: true, start: 4, end: 4 }],
    'say how many bytes a character needs': ['a😀', 1, 3, { fits: false, neededBytes: 4 }],
    'say it too for a place within it': ['a€', 3, 2, { fits: false, neededBytes: 3 }],
    'may be smaller than any character of another kind': ['ab', 1, 1, { fits: true, start: 1, end: 2 }],
  };
  for (const [name, [file, start, maxBytes, expected]] of Object.entries(cases)) {
    it(name, () => assert.deepEqual(windowOf(Buffer.from(file), start, maxBytes), expected));
  }

  it('leave half a character at the end of the file for the last one', () => {
    const file = Buffer.from('ab€').subarray(0, -1);
    assert.deepEqual(
      windowsOf(file, 64).map((each) => each.length),
      [2, 2],
    );
  });
});
