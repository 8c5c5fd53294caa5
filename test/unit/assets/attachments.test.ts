import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { type ChatAttachmentsOptions, chatAttachments } from '../../../src/assets/chatFiles.ts';
import { needsFifos, needsSymlinks } from '../../windows/needs.ts';

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

/** `outside/secret.txt`, and `work/` with `chats/` in it, where the chat and its `cmdassets/` are. */
let top: string;
let chats: string;
beforeEach(() => {
  top = mkdtempSync(join(realpathSync(tmpdir()), 'filechat-attach-'));
  chats = join(top, 'work', 'chats');
  mkdirSync(join(chats, 'cmdassets'), { recursive: true });
  mkdirSync(join(top, 'outside'));
  writeFileSync(join(chats, 'a b.csv'), 'a,b\n');
  writeFileSync(join(chats, 'cmdassets', 'tool-image-1.png'), PNG);
  writeFileSync(join(top, 'work', 'up.md'), '# Up\n');
  writeFileSync(join(top, 'outside', 'secret.txt'), 'secret');
});
afterEach(() => rmSync(top, { recursive: true, force: true }));

const find = (target: string, options: Partial<ChatAttachmentsOptions> = {}) =>
  chatAttachments({ folder: chats, roots: [join(top, 'work')], ...options }).find(target);
const read = async (target: string, options?: Partial<ChatAttachmentsOptions>) =>
  Buffer.from(await (await find(target, options)).read()).toString();

describe('a link finds', () => {
  it('a file from the chat’s folder, upwards within the roots, and by its whole path', async () => {
    assert.equal(await read('a b.csv'), 'a,b\n');
    assert.equal(await read('../up.md'), '# Up\n');
    assert.equal(await read(join(top, 'work', 'up.md')), '# Up\n');
  });

  it('the name, size and type of a file', async () => {
    const { name, size, mimeType, isText } = await find('a b.csv');
    assert.deepEqual(
      { name, size, mimeType, isText },
      { name: 'a b.csv', size: 4, mimeType: 'text/csv', isText: true },
    );
  });

  it('the chat’s own assets, also without roots and when they are kept elsewhere', async () => {
    assert.equal((await find('cmdassets/tool-image-1.png', { roots: [] })).mimeType, 'image/png');
    const storage = join(top, 'storage');
    mkdirSync(join(storage, 'cmdassets'), { recursive: true });
    writeFileSync(join(storage, 'cmdassets', 'tool-file-1.txt'), 'kept');
    const target = join(storage, 'cmdassets', 'tool-file-1.txt');
    assert.equal(await read(target, { assetsIn: storage, roots: [] }), 'kept');
  });
});

describe('a file is', () => {
  const cases: readonly (readonly [
    rule: string,
    name: string,
    bytes: string | Uint8Array,
    type: string,
    isText: boolean,
  ])[] = [
    ['what its bytes say, whatever it is called', 'x.csv', PNG, 'image/png', false],
    ['text by its name, if it reads as text', 'x.json', '{}', 'application/json', true],
    ['text without a name that anybody knows', 'Makefile', 'all:\n\techo ü\n', 'text/plain', true],
    [
      'no text when it is not UTF-8',
      'x.txt',
      Uint8Array.of(0x68, 0xff, 0xfe),
      'application/octet-stream',
      false,
    ],
    ['no text when it holds NUL', 'x.md', 'a\0b', 'application/octet-stream', false],
    ['a document', 'x.bin', '%PDF-1.7\n', 'application/pdf', false],
    ['text when it is empty and so called', 'x.txt', '', 'text/plain', true],
    ['a drawing that is text', 'x.svg', '<svg xmlns="http://www.w3.org/2000/svg"/>', 'image/svg+xml', true],
  ];
  for (const [rule, name, bytes, mimeType, isText] of cases) {
    it(rule, async () => {
      writeFileSync(join(chats, name), bytes);
      const found = await find(name);
      assert.deepEqual([found.mimeType, found.isText], [mimeType, isText]);
    });
  }

  it('text also when its head ends in the middle of a letter', async () => {
    writeFileSync(join(chats, 'long.txt'), `a${'ü'.repeat(100_000)}`);
    const found = await find('long.txt');
    assert.equal(found.isText, true);
    assert.equal((await found.read()).length, 200_001);
  });
});

describe('outside of the roots', () => {
  const refused = { message: /^it is outside of the folders that may be read/ };

  it('nothing is read without consent, whether it is there or not', async () => {
    for (const target of ['../../outside/secret.txt', '../../outside/none.txt', '/etc/passwd'])
      await assert.rejects(find(target), refused);
    await assert.rejects(find('a b.csv', { roots: [] }), refused);
  });

  it('a link inside that leads out counts as out', needsSymlinks, async () => {
    symlinkSync(join(top, 'outside', 'secret.txt'), join(chats, 'inside.txt'));
    symlinkSync(join(top, 'outside'), join(chats, 'folder'));
    await assert.rejects(find('inside.txt'), refused);
    await assert.rejects(find('folder/secret.txt'), refused);
  });

  it('permission for the real path is requested once', needsSymlinks, async () => {
    symlinkSync(join(top, 'outside', 'secret.txt'), join(chats, 'inside.txt'));
    const asked: string[] = [];
    const mayRead = async (path: string) => asked.push(path) > 0;
    const source = chatAttachments({ folder: chats, roots: [chats], mayRead });
    assert.equal((await source.find('inside.txt')).size, 6);
    assert.equal((await source.find('../../outside/secret.txt')).size, 6);
    assert.deepEqual(asked, [join(top, 'outside', 'secret.txt')]);
  });

  const needsShares = { skip: process.platform !== 'win32' && 'Only Windows has shares' };
  it('a network share is never contacted, nor permission requested for it', needsShares, async () => {
    const mayRead = () => assert.fail('It was asked for.');
    for (const target of ['//127.0.0.1/share/a.txt', '\\\\127.0.0.1\\share\\a.txt', '\\\\.\\pipe\\a'])
      await assert.rejects(find(target, { mayRead }), refused);
  });

  it('a no is a no', async () => {
    await assert.rejects(find('../../outside/secret.txt', { mayRead: async () => false }), refused);
  });
});

describe('an error says why a file cannot be sent', () => {
  it('in plain words', async () => {
    mkdirSync(join(chats, 'folder'));
    const cases: readonly (readonly [target: string, message: string])[] = [
      ['none.csv', 'there is no such file'],
      ['folder', 'it is not an ordinary file'],
      ['cmdassets/none.png', 'there is no such file'],
      ['a\0b', 'it holds a NUL character'],
    ];
    for (const [target, message] of cases) await assert.rejects(find(target), { message });
  });

  it('for links that lead nowhere', needsSymlinks, async () => {
    symlinkSync('nowhere', join(chats, 'dangling'));
    symlinkSync('loop', join(chats, 'loop'));
    await assert.rejects(find('dangling'), { message: 'there is no such file' });
    await assert.rejects(find('loop'), { message: 'it is a symbolic link that leads nowhere' });
  });

  it('for devices and pipes, without waiting for anybody', needsFifos, async () => {
    execFileSync('mkfifo', [join(chats, 'pipe')]);
    await assert.rejects(find('pipe'), { message: 'it is not an ordinary file' });
    await assert.rejects(find('/dev/zero', { roots: ['/dev'] }), { message: 'it is not an ordinary file' });
  });

  it('for a file that is too large', async () => {
    await assert.rejects(find('a b.csv', { maxBytes: 3 }), {
      message: 'it has 4 bytes, and at most 3 bytes are sent',
    });
  });

  it('for an asset that is a way out, and for a folder of assets that is one', needsSymlinks, async () => {
    symlinkSync(join(top, 'outside', 'secret.txt'), join(chats, 'cmdassets', 'way.txt'));
    await assert.rejects(find('cmdassets/way.txt'), { message: 'it leads out of cmdassets/' });
    rmSync(join(chats, 'cmdassets'), { recursive: true });
    symlinkSync(join(top, 'outside'), join(chats, 'cmdassets'));
    await assert.rejects(find('cmdassets/secret.txt'), { message: 'cmdassets/ is a symbolic link' });
  });

  it('for a file that has changed since', async () => {
    const found = await find('a b.csv');
    appendFileSync(join(chats, 'a b.csv'), 'more');
    await assert.rejects(found.read(), { message: 'it has changed since it was looked at. Run again' });
    rmSync(join(chats, 'a b.csv'));
    await assert.rejects(found.read(), { message: 'there is no such file' });
  });
});

it('reading stops when it is told to', async () => {
  const found = await find('a b.csv');
  await assert.rejects(found.read(AbortSignal.abort(new Error('Stopped.'))), { message: 'Stopped.' });
});
