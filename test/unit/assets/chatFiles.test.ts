import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, it } from 'node:test';
import {
  type ChatAttachmentsOptions,
  type ChatFilesOptions,
  chatAttachments,
  chatFiles,
  readAgentFile,
} from '../../../src/assets/chatFiles.ts';
import { BUDGET } from '../../../src/base/budget.ts';
import type { FileReference } from '../../../src/ports/document.ts';
import { temporaryFolder } from '../../kit/folder.ts';
import { PNG } from '../../kit/png.ts';
import { needsFifos, needsModes, needsSymlinks } from '../../windows/needs.ts';
import { useTree } from '../catalog/tree.ts';

const NAME = 'tool-file-20261116-093012-V1StGXR8a0-1.txt';
const OUTSIDE = { message: /^it is outside the folders that can be read/ };
const message = (text: string) => ({ message: text });

/** `outside/secret.txt`, and `work/` with `chats/` in it, where the chat and its `cmdassets/` are. */
const tree = useTree();
let chats = '';
beforeEach(() => {
  chats = tree.at('work/chats');
  tree.write(`work/chats/cmdassets/${NAME}`, 'asset');
  tree.write('work/chats/a.csv', 'a,b\n');
  tree.write('work/up.csv', 'c,d\n');
  tree.write('outside/secret.txt', 'secret');
});
const here = (name: string) => join(chats, name);

/** A link in a turn. */
const attached = (target: string, options: Partial<ChatAttachmentsOptions> = {}) =>
  chatAttachments({ folder: chats, roots: [tree.at('work')], ...options }).find(target);
const source = (options: Partial<ChatFilesOptions> = {}) =>
  chatFiles({
    folder: chats,
    roots: [tree.at('work')],
    limits: () => ({ maxAssetBytes: 1000 }),
    ...options,
  });
const found = (reference: FileReference, options?: Partial<ChatFilesOptions>) =>
  source(options).find(reference, 'bytes');
const asset = (name = NAME): FileReference => ({ kind: 'asset', name });
/** A path in an argument of a tool call. */
const argument = (path: string, options?: Partial<ChatFilesOptions>) =>
  found({ kind: 'file', path }, options);

const WAYS = {
  'a link': {
    find: attached,
    again: 'Run again',
    findAsset: (name: string) => attached(`cmdassets/${name}`),
  },
  'an argument': {
    find: argument,
    again: 'Call the tool again',
    findAsset: (name: string) => found(asset(name)),
  },
};

describe('a folder', () => {
  it('is a listing for a link, also if it is a root', async () => {
    const { isFolder, isText, read } = await attached('.', { roots: [chats] });
    assert.deepEqual([isFolder, isText], [true, true]);
    const listing = new TextDecoder().decode(await read());
    assert.equal(listing, `a.csv  4 bytes\ncmdassets/\n  ${NAME}  5 bytes`);
  });

  it('outside of the roots is listed after the user agreed', async () => {
    const mayRead = async (path: string) => path === tree.at('outside');
    const { read } = await attached('../../outside', { mayRead });
    assert.equal(new TextDecoder().decode(await read()), 'secret.txt  6 bytes');
  });

  it('is refused as an argument', () =>
    assert.rejects(argument('cmdassets'), message('it is not a regular file')));
});

for (const [way, { find, again, findAsset }] of Object.entries(WAYS)) {
  describe(`${way} finds`, () => {
    it('a file from the chat’s folder, upwards within the roots, and by its whole path', async () => {
      for (const [path, name] of [
        ['a.csv', 'a.csv'],
        ['../up.csv', 'up.csv'],
        [here('a.csv'), 'a.csv'],
      ] as const)
        assert.equal((await find(path)).name, name);
    });

    it('the name, size and type of a file', async () => {
      const { name, size, mimeType } = await find('a.csv');
      assert.deepEqual([name, size, mimeType], ['a.csv', 4, 'text/csv']);
    });

    it('a file by the type of its bytes, whatever its name', async () => {
      writeFileSync(here('x.csv'), PNG);
      assert.equal((await find('x.csv')).mimeType, 'image/png');
    });

    it('an absolute path through a link that leads to the workspace', needsSymlinks, async () => {
      symlinkSync(tree.at('work'), tree.at('link'));
      assert.equal((await find(tree.at('link/chats/a.csv'), { roots: [tree.at('link')] })).name, 'a.csv');
    });

    it('a link within the workspace, by its real path', needsSymlinks, async () => {
      symlinkSync(tree.at('work/up.csv'), here('link.csv'));
      assert.equal((await find('link.csv')).name, 'up.csv');
    });

    it('files for a chat whose folder does not exist yet', async () => {
      const folder = tree.at('work/new');
      assert.equal((await find(here('a.csv'), { folder })).name, 'a.csv');
      assert.equal((await find('../up.csv', { folder })).name, 'up.csv');
    });
  });

  describe(`${way} does not lead to`, () => {
    it('files outside of the roots, whether they exist or not', async () => {
      const outside = ['../../outside/secret.txt', tree.at('outside/secret.txt'), '../../outside/none.txt'];
      for (const path of [...outside, '/etc/passwd', '../../..']) await assert.rejects(find(path), OUTSIDE);
      await assert.rejects(find('a.csv', { roots: [] }), OUTSIDE);
    });

    it('a folder whose name only begins like the workspace', async () => {
      tree.write('work2/x');
      await assert.rejects(find('../../work2/x'), OUTSIDE);
    });

    it('the target of a link that leads out, as the file or as a parent folder', needsSymlinks, async () => {
      symlinkSync(tree.at('outside/secret.txt'), here('link.txt'));
      symlinkSync(tree.at('outside'), here('folder'));
      await assert.rejects(find('link.txt'), OUTSIDE);
      await assert.rejects(find('folder/secret.txt'), OUTSIDE);
    });

    it('an asset that is a link out of cmdassets/, and a cmdassets/ that is one', needsSymlinks, async () => {
      rmSync(here(`cmdassets/${NAME}`));
      symlinkSync(here('a.csv'), here(`cmdassets/${NAME}`));
      await assert.rejects(findAsset(NAME), message('it points outside cmdassets/'));
      renameSync(here('cmdassets'), here('elsewhere'));
      symlinkSync(here('elsewhere'), here('cmdassets'));
      await assert.rejects(findAsset(NAME), message('cmdassets/ is a symbolic link'));
    });

    it('a missing file', async () => {
      for (const path of ['none.csv', 'a.csv/b', 'cmdassets/none.png'])
        await assert.rejects(find(path), message('there is no such file'));
      rmSync(here('cmdassets'), { recursive: true });
      await assert.rejects(findAsset(NAME), message('there is no such file'));
    });

    it('a folder outside of the roots', () => assert.rejects(find('../../outside'), OUTSIDE));

    it('links that lead nowhere', needsSymlinks, async () => {
      symlinkSync('nowhere', here('dangling'));
      symlinkSync('loop', here('loop'));
      await assert.rejects(find('dangling'), message('there is no such file'));
      await assert.rejects(find('loop'), message('it has too many symbolic links'));
    });

    it('devices and pipes, and does not wait for them', needsFifos, async () => {
      execFileSync('mkfifo', [here('pipe')]);
      await assert.rejects(find('pipe'), message('it is not a regular file'));
      await assert.rejects(find('/dev/zero', { roots: ['/dev'] }), message('it is not a regular file'));
      await assert.rejects(find('C:/x'), message('it is a Windows path'));
    });

    if (process.getuid?.() !== 0) {
      it('a file without read permission', needsModes, async () => {
        chmodSync(here('a.csv'), 0);
        await assert.rejects(find('a.csv'), message('permission was denied'));
      });
    }

    const changes: Readonly<Record<string, () => void>> = {
      'has grown': () => appendFileSync(here('a.csv'), 'more'),
      'is another one': () => renameSync(tree.at('work/up.csv'), here('a.csv')),
      'has become a link': () => {
        rmSync(here('a.csv'));
        symlinkSync(tree.at('outside/secret.txt'), here('a.csv'));
      },
      'is behind a folder that has become a link': () => {
        renameSync(chats, tree.at('work/old'));
        symlinkSync(tree.at('work/old'), chats);
      },
    };
    for (const [what, change] of Object.entries(changes)) {
      it(
        `a file that ${what} since it was looked at`,
        what.includes('link') ? needsSymlinks : {},
        async () => {
          const file = await find('a.csv');
          change();
          await assert.rejects(file.read(), message(`it changed while it was being read. ${again}`));
        },
      );
    }

    it('a file that is gone since', async () => {
      const file = await find('a.csv');
      rmSync(here('a.csv'));
      await assert.rejects(file.read(), message('there is no such file'));
    });
  });

  it(`reading ${way} stops when it is aborted`, async () => {
    const file = await find('a.csv');
    await assert.rejects(file.read(AbortSignal.abort(new Error('Stopped.'))), message('Stopped.'));
  });
}

describe('a link', () => {
  it('leads to the chat’s own assets, also without roots and when they are kept elsewhere', async () => {
    assert.equal((await attached(`cmdassets/${NAME}`, { roots: [] })).mimeType, 'text/plain');
    const target = tree.write('storage/cmdassets/tool-file-1.txt', 'kept');
    const kept = await attached(target, { assetsIn: tree.at('storage'), roots: [] });
    assert.equal(Buffer.from(await kept.read()).toString(), 'kept');
  });

  type Case = readonly [
    rule: string,
    name: string,
    bytes: string | Uint8Array,
    type: string,
    isText: boolean,
  ];
  const cases: readonly Case[] = [
    ['of the type of its bytes, whatever its name', 'x.csv', PNG, 'image/png', false],
    ['text by its name, if it reads as text', 'x.json', '{}', 'application/json', true],
    ['text without a known name', 'Makefile', 'all:\n\techo ü\n', 'text/plain', true],
    ['of its type when it is in another encoding', 'x.txt', Uint8Array.of(104, 255), 'text/plain', false],
    [
      'not text when it has control characters',
      'x.txt',
      Uint8Array.of(1, 255),
      'application/octet-stream',
      false,
    ],
    ['not text when it contains NUL', 'x.md', 'a\0b', 'application/octet-stream', false],
    ['a document', 'x.bin', '%PDF-1.7\n', 'application/pdf', false],
    ['text by its name when it is empty', 'x.txt', '', 'text/plain', true],
    ['an SVG that is text', 'x.svg', '<svg xmlns="http://www.w3.org/2000/svg"/>', 'image/svg+xml', true],
  ];
  for (const [rule, name, bytes, mimeType, isText] of cases) {
    it(`leads to a file that is ${rule}`, async () => {
      writeFileSync(here(name), bytes);
      const file = await attached(name);
      assert.deepEqual([file.mimeType, file.isText], [mimeType, isText]);
    });
  }

  it('leads to text also when its head ends in the middle of a letter', async () => {
    writeFileSync(here('long.txt'), `a${'ü'.repeat(100_000)}`);
    const file = await attached('long.txt');
    assert.equal(file.isText, true);
    assert.equal((await file.read()).length, 200_001);
  });

  it('that leads out needs permission for the real path, once', needsSymlinks, async () => {
    symlinkSync(tree.at('outside/secret.txt'), here('inside.txt'));
    const asked: string[] = [];
    const mayRead = async (path: string) => asked.push(path) > 0;
    const attachments = chatAttachments({ folder: chats, roots: [chats], mayRead });
    assert.equal((await attachments.find('inside.txt')).size, 6);
    assert.equal((await attachments.find('../../outside/secret.txt')).size, 6);
    assert.deepEqual(asked, [tree.at('outside/secret.txt')]);
  });

  it('is no longer asked about when the run is stopped', async () => {
    const stop = new AbortController();
    const mayRead = async (_path: string, signal?: AbortSignal) => {
      stop.abort();
      return signal?.aborted === false;
    };
    const attachments = chatAttachments({ folder: chats, roots: [chats], mayRead });
    await assert.rejects(attachments.find('../../outside/secret.txt', stop.signal), OUTSIDE);
  });

  it('is not followed when the user declines', () =>
    assert.rejects(attached('../../outside/secret.txt', { mayRead: async () => false }), OUTSIDE));

  const needsShares = { skip: process.platform !== 'win32' && 'Only Windows has shares' };
  it('never contacts a network share, nor asks for permission for it', needsShares, async () => {
    const mayRead = () => assert.fail('It was asked for.');
    for (const target of ['//127.0.0.1/share/a.txt', '\\\\127.0.0.1\\share\\a.txt', '\\\\.\\pipe\\a'])
      await assert.rejects(attached(target, { mayRead }), OUTSIDE);
  });

  it('with NUL is refused', () => assert.rejects(attached('a\0b'), message('it contains a NUL character')));

  it('to a file that is too large is refused', () =>
    assert.rejects(
      attached('a.csv', { maxBytes: 3 }),
      message('it has 4 bytes, and at most 3 bytes are sent'),
    ));
});

describe('an argument', () => {
  it('names an asset of the chat, with its name, size and type', async () => {
    const { read, ...file } = await found(asset());
    const path = here(`cmdassets/${NAME}`);
    assert.deepEqual(file, { name: NAME, path, size: 5, mimeType: 'text/plain' });
    assert.equal(await read(), Buffer.from('asset').toString('base64'));
  });

  it('names assets elsewhere, for a chat that is not saved', async () => {
    tree.write(`storage/cmdassets/${NAME}`, 'stored');
    assert.equal((await found(asset(), { assetsIn: tree.at('storage') })).size, 6);
  });

  it('accepts no path in place of an asset name', () =>
    assert.rejects(found(asset('../a.csv')), message('it points outside cmdassets/')));

  it('names no file that is too large, with its size, unless only its path is sent', async () => {
    truncateSync(tree.write('work/chats/big.bin', ''), 3 * 1024 ** 2);
    const limits = () => ({ maxAssetBytes: 2 * 1024 ** 2 });
    const sizes =
      'it has 3.1 MB (3145728 bytes), and filechat.results.maxAssetBytes allows 2.1 MB (2097152 bytes)';
    await assert.rejects(argument('big.bin', { limits }), message(sizes));
    const { size } = await source({ limits }).find({ kind: 'file', path: 'big.bin' }, 'path');
    assert.equal(size, 3 * 1024 ** 2);
  });

  it('names no file of a type that is not allowed', () => {
    const limits = () => ({ maxAssetBytes: 1000, allowedMimeTypes: ['image/*', 'application/pdf'] });
    const types = 'it is text/csv, and filechat.results.allowedMimeTypes allows image/*, application/pdf';
    return assert.rejects(argument('a.csv', { limits }), message(types));
  });

  const PIECE = 3 * 256 * 1024;
  for (const size of [0, 1, 2, 3, PIECE - 1, PIECE, PIECE + 1, 2 * PIECE, 2 * PIECE + 2]) {
    it(`gets ${size} bytes whole`, async () => {
      const bytes = randomBytes(size);
      writeFileSync(here('x.bin'), bytes);
      const file = await argument('x.bin', { limits: () => ({ maxAssetBytes: 2 * PIECE + 2 }) });
      assert.ok((await file.read()) === bytes.toString('base64'));
    });
  }
});

it('an agent over its budget is refused with its name', async (t) => {
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, '.filechat'));
  writeFileSync(join(folder, '.filechat', 'big.md'), 'x'.repeat(BUDGET.configChars + 1));
  await assert.rejects(
    readAgentFile('big', [folder]),
    /^Error: \.filechat\/big\.md is larger than 1\.0 MB\.$/,
  );
});
