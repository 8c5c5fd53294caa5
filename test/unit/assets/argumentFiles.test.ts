import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { type ChatFilesOptions, chatFiles, isAllowedType } from '../../../src/assets/chatFiles.ts';
import type { FileReference } from '../../../src/ports/document.ts';
import { needsFifos, needsModes, needsSymlinks } from '../../windows/needs.ts';

const NAME = 'tool-file-20261116-093012-V1StGXR8a0-1.txt';
const asset = (name = NAME): FileReference => ({ kind: 'asset', name });
const file = (path: string): FileReference => ({ kind: 'file', path });

/** `outside/secret.txt`, and `work/` with `chats/` in it, where the chat and its `cmdassets/` are. */
let top: string;
let chats: string;
beforeEach(() => {
  top = mkdtempSync(join(realpathSync(tmpdir()), 'filechat-read-'));
  chats = join(top, 'work', 'chats');
  mkdirSync(join(chats, 'cmdassets'), { recursive: true });
  mkdirSync(join(top, 'outside'));
  writeFileSync(join(chats, 'cmdassets', NAME), 'asset');
  writeFileSync(join(chats, 'a.csv'), 'a,b\n');
  writeFileSync(join(top, 'work', 'up.csv'), 'c,d\n');
  writeFileSync(join(top, 'outside', 'secret.txt'), 'secret');
});
afterEach(() => rmSync(top, { recursive: true, force: true }));

const source = (options: Partial<ChatFilesOptions> = {}) =>
  chatFiles({
    folder: chats,
    roots: [join(top, 'work')],
    limits: () => ({ maxAssetBytes: 1000 }),
    ...options,
  });
const find = (reference: FileReference, options?: Partial<ChatFilesOptions>) =>
  source(options).find(reference, 'bytes');

describe('finding a file', () => {
  it('an asset of the chat, with all that a tool may want to know of it', async () => {
    const { read, ...found } = await find(asset());
    assert.deepEqual(found, {
      name: NAME,
      path: join(chats, 'cmdassets', NAME),
      size: 5,
      mimeType: 'text/plain',
    });
    assert.equal(await read(), Buffer.from('asset').toString('base64'));
  });

  it('a path from the chat’s folder, and upwards within the workspace', async () => {
    assert.equal((await find(file('a.csv'))).path, join(chats, 'a.csv'));
    assert.equal((await find(file('../up.csv'))).path, join(top, 'work', 'up.csv'));
    assert.equal((await find(file('../up.csv'))).mimeType, 'text/csv');
  });

  it('an absolute path', async () => {
    assert.equal((await find(file(join(chats, 'a.csv')))).name, 'a.csv');
  });

  it('an absolute path through a link that leads to the workspace', needsSymlinks, async () => {
    symlinkSync(join(top, 'work'), join(top, 'link'));
    const roots = [join(top, 'link')];
    const found = await find(file(join(top, 'link', 'chats', 'a.csv')), { roots });
    assert.equal(found.path, join(chats, 'a.csv'));
  });

  it('a link within the workspace, by its real path', needsSymlinks, async () => {
    symlinkSync(join(top, 'work', 'up.csv'), join(chats, 'link.csv'));
    assert.equal((await find(file('link.csv'))).path, join(top, 'work', 'up.csv'));
  });

  it('for a chat whose folder is still to be made', async () => {
    const folder = join(top, 'work', 'new');
    assert.equal((await find(file(join(chats, 'a.csv')), { folder })).name, 'a.csv');
    assert.equal((await find(file('../up.csv'), { folder })).name, 'up.csv');
  });

  it('assets elsewhere, for a chat that is not saved', async () => {
    mkdirSync(join(top, 'storage', 'cmdassets'), { recursive: true });
    writeFileSync(join(top, 'storage', 'cmdassets', NAME), 'stored');
    assert.equal((await find(asset(), { assetsIn: join(top, 'storage') })).size, 6);
  });

  it('is what its bytes say, whatever it is called', async () => {
    const png = Buffer.from(
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
      'base64',
    );
    writeFileSync(join(chats, 'x.csv'), png);
    assert.equal((await find(file('x.csv'))).mimeType, 'image/png');
  });
});

describe('files that may not be read are refused', () => {
  const outside = { message: /^it is outside of the folders that may be read/ };

  it('a path that leads out: by dots, absolute, or to the folder itself', async () => {
    for (const path of [
      '../../outside/secret.txt',
      join(top, 'outside/secret.txt'),
      '/etc/passwd',
      '../../..',
    ])
      await assert.rejects(find(file(path)), outside);
    await assert.rejects(find(file('a.csv'), { roots: [] }), outside);
  });

  it('outside of the roots, existing and missing files look the same', async () => {
    await assert.rejects(find(file('../../outside/none.txt')), outside);
  });

  it('a folder whose name only begins like the workspace', async () => {
    mkdirSync(join(top, 'work2'));
    writeFileSync(join(top, 'work2', 'x'), 'x');
    await assert.rejects(find(file('../../work2/x')), outside);
  });

  it('a link that leads out, as the file or as a folder on the way', needsSymlinks, async () => {
    symlinkSync(join(top, 'outside', 'secret.txt'), join(chats, 'link.txt'));
    symlinkSync(join(top, 'outside'), join(chats, 'folder'));
    await assert.rejects(find(file('link.txt')), outside);
    await assert.rejects(find(file('folder/secret.txt')), outside);
  });

  it('an asset that is a link out of cmdassets/, and a cmdassets/ that is one', needsSymlinks, async () => {
    rmSync(join(chats, 'cmdassets', NAME));
    symlinkSync(join(chats, 'a.csv'), join(chats, 'cmdassets', NAME));
    await assert.rejects(find(asset()), { message: 'it leads out of cmdassets/' });
    renameSync(join(chats, 'cmdassets'), join(chats, 'elsewhere'));
    symlinkSync(join(chats, 'elsewhere'), join(chats, 'cmdassets'));
    await assert.rejects(find(asset()), { message: 'cmdassets/ is a symbolic link' });
  });

  it('an asset that names a way, should one ever come this far', async () => {
    await assert.rejects(find(asset('../a.csv')), { message: 'it leads out of cmdassets/' });
  });

  it('a missing file', async () => {
    await assert.rejects(find(file('none.csv')), { message: 'there is no such file' });
    await assert.rejects(find(file('a.csv/b')), { message: 'there is no such file' });
    rmSync(join(chats, 'cmdassets'), { recursive: true });
    await assert.rejects(find(asset()), { message: 'there is no such file' });
  });

  it('a folder', async () => {
    await assert.rejects(find(file('cmdassets')), { message: 'it is not an ordinary file' });
  });

  it('a file that is too large, with its size, unless only its path is sent', async () => {
    writeFileSync(join(chats, 'big.bin'), '');
    truncateSync(join(chats, 'big.bin'), 3 * 1024 ** 2);
    const limits = () => ({ maxAssetBytes: 2 * 1024 ** 2 });
    await assert.rejects(find(file('big.bin'), { limits }), {
      message:
        'it has 3.1 MB (3145728 bytes), and filechat.results.maxAssetBytes allows 2.1 MB (2097152 bytes)',
    });
    assert.equal((await source({ limits }).find(file('big.bin'), 'path')).size, 3 * 1024 ** 2);
  });

  it('a file of a type that is not allowed', async () => {
    const limits = () => ({ maxAssetBytes: 1000, allowedMimeTypes: ['image/*', 'application/pdf'] });
    await assert.rejects(find(file('a.csv'), { limits }), {
      message: 'it is text/csv, and filechat.results.allowedMimeTypes allows image/*, application/pdf',
    });
  });

  it('devices and pipes, without waiting for anybody', needsFifos, async () => {
    execFileSync('mkfifo', [join(chats, 'pipe')]);
    await assert.rejects(find(file('pipe')), { message: 'it is not an ordinary file' });
    await assert.rejects(find(file('/dev/zero'), { roots: ['/dev'] }), {
      message: 'it is not an ordinary file',
    });
    await assert.rejects(find(file('C:/x')), { message: 'it is a path of Windows' });
  });

  if (process.getuid?.() !== 0) {
    it('a file without read permission', needsModes, async () => {
      chmodSync(join(chats, 'a.csv'), 0);
      await assert.rejects(find(file('a.csv')), { message: 'it may not be read' });
    });
  }
});

describe('reading a file', () => {
  const PIECE = 3 * 256 * 1024;
  for (const size of [0, 1, 2, 3, PIECE - 1, PIECE, PIECE + 1, 2 * PIECE, 2 * PIECE + 2]) {
    it(`${size} bytes come whole`, async () => {
      const bytes = randomBytes(size);
      writeFileSync(join(chats, 'x.bin'), bytes);
      const found = await find(file('x.bin'), { limits: () => ({ maxAssetBytes: 2 * PIECE + 2 }) });
      assert.ok((await found.read()) === bytes.toString('base64'));
    });
  }

  const CHANGED = { message: 'it has changed since it was looked at. Call the tool again' };
  const changes: Readonly<Record<string, () => void>> = {
    'has grown': () => appendFileSync(join(chats, 'a.csv'), 'more'),
    'is another one': () => renameSync(join(top, 'work', 'up.csv'), join(chats, 'a.csv')),
    'has become a link': () => {
      rmSync(join(chats, 'a.csv'));
      symlinkSync(join(top, 'outside', 'secret.txt'), join(chats, 'a.csv'));
    },
    'is behind a folder that has become a link': () => {
      renameSync(chats, join(top, 'work', 'old'));
      symlinkSync(join(top, 'work', 'old'), chats);
    },
  };
  for (const [what, change] of Object.entries(changes)) {
    const needs = what.includes('link') ? needsSymlinks : {};
    it(`a file that ${what} since it was looked at is not read`, needs, async () => {
      const found = await find(file('a.csv'));
      change();
      await assert.rejects(found.read(), CHANGED);
    });
  }

  it('a file that is gone', async () => {
    const found = await find(file('a.csv'));
    rmSync(join(chats, 'a.csv'));
    await assert.rejects(found.read(), { message: 'there is no such file' });
  });

  it('stops when it is told to', async () => {
    const found = await find(file('a.csv'));
    await assert.rejects(found.read(AbortSignal.abort(new Error('Stopped.'))), { message: 'Stopped.' });
  });
});

it('types are allowed by name, by group, or all', () => {
  const cases: readonly (readonly [type: string, patterns: readonly string[], allowed: boolean])[] = [
    ['image/png', ['*/*'], true],
    ['image/png', ['image/*'], true],
    ['image/png', ['IMAGE/PNG'], true],
    ['image/png', ['text/*', 'image/jpeg'], false],
    ['image/png', ['image'], false],
    ['image/png', [], false],
  ];
  for (const [type, patterns, allowed] of cases) assert.equal(isAllowedType(type, patterns), allowed);
});
