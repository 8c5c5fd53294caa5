import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { linkSync, mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, it } from 'node:test';
import fc from 'fast-check';
import { Catalog, hasExactName } from '../../../src/catalog/catalog.ts';
import { CatalogRefusal, readAddress } from '../../../src/catalog/entry.ts';
import { needsCase, needsFifos, needsSymlinks } from '../../windows/needs.ts';
import { assetNumbered, chatWith, useTree } from './tree.ts';

const tree = useTree();
const PNG = assetNumbered(1);
const SECRET = '# %% user\nThe secret\n';

/** The paths that were read; none may be outside the folders. */
let read: string[] = [];
let catalog: Catalog;

beforeEach(() => {
  read = [];
  tree.write('outside/secret.chat.md', SECRET);
  tree.write(`outside/cmdassets/${PNG}`, 'secret');
  tree.write(`outside/${PNG}`, 'secret');
  mkdirSync(tree.at('in/notes'), { recursive: true });
  const readChat = async (path: string) => {
    read.push(path);
    return await readFile(path, 'utf8');
  };
  catalog = new Catalog({ folders: [tree.at('in')], readChat });
});

const isRefused = async (chat: string, asset?: string) => {
  const address = asset === undefined ? { kind: 'chat', chat } : { kind: 'asset', chat, asset };
  await assert.rejects(catalog.find(address as Parameters<Catalog['find']>[0]), (error: Error) => {
    assert.ok(error instanceof CatalogRefusal, error.message);
    assert.match(error.message, /^There is nothing at filechat:\/\/.*list_assets shows the current files\.$/);
    assert.ok(!error.message.includes(tree.path));
    return true;
  });
};

const listsNothing = async () => {
  const { entries, folders } = await catalog.snapshot();
  assert.deepEqual(entries, []);
  assert.ok(folders.every((folder) => folder.startsWith(tree.at('in'))));
  assert.deepEqual(read, []);
};

describe('a symbolic link is neither listed nor followed', () => {
  it('as a chat that leads out', needsSymlinks, async () => {
    symlinkSync(tree.at('outside/secret.chat.md'), tree.at('in/a.chat.md'));
    await listsNothing();
    await isRefused('a.chat.md');
    await isRefused('a.chat.md', PNG);
    await assert.rejects(catalog.folderOf('a.chat.md'), CatalogRefusal);
  });

  it('as a chat that leads to another chat of the folder', needsSymlinks, async () => {
    tree.write('in/real.chat.md');
    symlinkSync(tree.at('in/real.chat.md'), tree.at('in/a.chat.md'));
    const { entries } = await catalog.snapshot();
    assert.deepEqual(
      entries.map(({ chat }) => chat),
      ['real.chat.md'],
    );
    await isRefused('a.chat.md');
  });

  it('as an asset', needsSymlinks, async () => {
    mkdirSync(tree.at('in/cmdassets'));
    symlinkSync(tree.at('outside', PNG), tree.at('in/cmdassets', PNG));
    await listsNothing();
    await isRefused('cmdassets', PNG);
  });

  it('as a folder of assets', needsSymlinks, async () => {
    symlinkSync(tree.at('outside/cmdassets'), tree.at('in/cmdassets'));
    await listsNothing();
    await isRefused('cmdassets', PNG);
    tree.write('in/a.chat.md', chatWith([PNG]));
    await isRefused('a.chat.md', PNG);
  });

  it('as a parent folder', needsSymlinks, async () => {
    symlinkSync(tree.at('outside'), tree.at('in/way'));
    await listsNothing();
    await isRefused('way/secret.chat.md');
    await isRefused('way/cmdassets', PNG);
    await assert.rejects(catalog.folderOf('way/cmdassets'), CatalogRefusal);
  });

  it('as a parent folder that leads back into the folder', needsSymlinks, async () => {
    tree.write('in/notes/a.chat.md');
    symlinkSync(tree.at('in/notes'), tree.at('in/way'));
    symlinkSync(tree.at('in'), tree.at('in/notes/round'));
    const { entries } = await catalog.snapshot();
    assert.equal(entries.length, 1);
    await isRefused('way/a.chat.md');
    await isRefused('notes/round/notes/a.chat.md');
  });

  it('as a broken link or a link to itself', needsSymlinks, async () => {
    symlinkSync(tree.at('in/loop.chat.md'), tree.at('in/loop.chat.md'));
    symlinkSync(tree.at('nowhere'), tree.at('in/gone.chat.md'));
    await listsNothing();
    await isRefused('loop.chat.md');
    await isRefused('gone.chat.md');
  });
});

describe('an entry that is replaced after it was listed is refused', () => {
  beforeEach(async () => {
    tree.write('in/notes/a.chat.md', chatWith([PNG]));
    tree.write(`in/notes/cmdassets/${PNG}`);
    assert.equal((await catalog.snapshot()).entries.length, 2);
    assert.equal((await catalog.find({ kind: 'asset', chat: 'notes/a.chat.md', asset: PNG })).entry.size, 1);
  });

  it('a link in place of cmdassets', needsSymlinks, async () => {
    renameSync(tree.at('in/notes/cmdassets'), tree.at('in/notes/kept'));
    symlinkSync(tree.at('outside/cmdassets'), tree.at('in/notes/cmdassets'));
    await isRefused('notes/a.chat.md', PNG);
    await isRefused('notes/cmdassets', PNG);
  });

  it('a link in place of the asset', needsSymlinks, async () => {
    rmSync(tree.at('in/notes/cmdassets', PNG));
    symlinkSync(tree.at('outside', PNG), tree.at('in/notes/cmdassets', PNG));
    await isRefused('notes/a.chat.md', PNG);
  });

  it('a link in place of the folder, or of the chat', needsSymlinks, async () => {
    renameSync(tree.at('in/notes'), tree.at('in/kept'));
    symlinkSync(tree.at('in/kept'), tree.at('in/notes'));
    await isRefused('notes/a.chat.md');
    await isRefused('notes/a.chat.md', PNG);
    rmSync(tree.at('in/kept/a.chat.md'));
    symlinkSync(tree.at('outside/secret.chat.md'), tree.at('in/kept/a.chat.md'));
    await isRefused('kept/a.chat.md');
  });
});

describe('special files are neither listed nor opened', () => {
  it('a pipe, which would block the reader', needsFifos, async () => {
    mkdirSync(tree.at('in/cmdassets'));
    for (const name of [`in/cmdassets/${PNG}`, 'in/a.chat.md']) execFileSync('mkfifo', [tree.at(name)]);
    await listsNothing();
    await isRefused('cmdassets', PNG);
    await isRefused('a.chat.md');
  });

  it('a folder that is named like an asset or a chat', async () => {
    mkdirSync(tree.at('in/cmdassets', PNG), { recursive: true });
    mkdirSync(tree.at('in/a.chat.md'));
    await listsNothing();
    await isRefused('cmdassets', PNG);
    await isRefused('a.chat.md');
  });

  it('a file that is named like the folder of assets', async () => {
    tree.write('in/cmdassets');
    await listsNothing();
    await isRefused('cmdassets', PNG);
    await assert.rejects(catalog.folderOf('cmdassets'), CatalogRefusal);
  });
});

describe('a handcrafted address', () => {
  it('never leads outside', async () => {
    const up = '../outside/secret.chat.md notes/../../outside/secret.chat.md ../outside/cmdassets'.split(' ');
    for (const chat of [...up, tree.at('outside/secret.chat.md'), '', '.', '..', 'notes', 'a\0.chat.md']) {
      await isRefused(chat);
      await isRefused(chat, PNG);
    }
    tree.write('in/a.chat.md');
    mkdirSync(tree.at('in/cmdassets'));
    const assets = [
      `../${PNG}`,
      `../../outside/${PNG}`,
      '../a.chat.md',
      '..',
      '',
      'x',
      tree.at('outside', PNG),
    ];
    for (const asset of assets) await isRefused('a.chat.md', asset);
  });

  it('in another case than on the disk finds nothing', async () => {
    rmSync(tree.at('in/notes'), { recursive: true });
    tree.write('in/Notes/A.chat.md');
    tree.write(`in/Notes/cmdassets/${PNG}`);
    await catalog.find({ kind: 'chat', chat: 'Notes/A.chat.md' });
    for (const chat of ['notes/A.chat.md', 'Notes/a.chat.md', 'NOTES/A.chat.md']) {
      await isRefused(chat);
      await isRefused(chat, PNG);
    }
    await isRefused('Notes/A.chat.md', PNG.toLowerCase());
  });

  it('in another case is refused even on a case-insensitive disk', async () => {
    const names = ['A.chat.md', 'README'];
    const disk = {
      statOf: async (path: string) => {
        const ino = names.findIndex((name) => path.toLowerCase() === join('/w', name).toLowerCase());
        return ino < 0 ? undefined : { ino };
      },
      readdir: async () => names,
    };
    for (const name of names) assert.equal(await hasExactName(join('/w', name), disk), true);
    for (const name of ['a.chat.md', 'A.CHAT.MD', 'A.Chat.md', 'readme'])
      assert.equal(await hasExactName(join('/w', name), disk), false, name);
  });

  it('is right where two names in different cases are one file', needsCase, async () => {
    tree.write('in/a.chat.md');
    linkSync(tree.at('in/a.chat.md'), tree.at('in/A.CHAT.MD'));
    assert.equal((await catalog.find({ kind: 'chat', chat: 'a.chat.md' })).path, tree.at('in/a.chat.md'));
  });

  it('no address finds anything outside', async () => {
    tree.write('in/notes/a.chat.md', chatWith([PNG]));
    tree.write(`in/notes/cmdassets/${PNG}`);
    if (!needsSymlinks.skip) symlinkSync(tree.at('outside'), tree.at('in/way'));
    const pieces = fc.constantFrom(
      ...'.. . / %2e%2e %2F %252F \\ %5c %00 notes way outside in a.chat.md secret.chat.md cmdassets'.split(
        ' ',
      ),
      ...['notes%2Fa.chat.md', 'way%2Fsecret.chat.md', '~', ':', PNG, tree.at('outside')],
    );
    const uris = fc
      .array(pieces, { minLength: 1, maxLength: 6 })
      .map((each) => `filechat://${each.join('')}`);
    let found = 0;
    await fc.assert(
      fc.asyncProperty(uris, async (uri) => {
        const address = readAddress(uri);
        if (!address.ok) return;
        const { path } = await catalog.find(address.address).catch((error) => {
          assert.ok(error instanceof CatalogRefusal);
          return { path: undefined };
        });
        if (path === undefined) return;
        found += 1;
        assert.ok([tree.at('in/notes/a.chat.md'), tree.at('in/notes/cmdassets', PNG)].includes(path), path);
      }),
      { numRuns: 600, examples: [['filechat://notes%2Fa.chat.md']] },
    );
    assert.ok(found > 0);
  });
});
