import assert from 'node:assert/strict';
import {
  appendFileSync,
  chmodSync,
  chownSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
} from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { Catalog } from '../../../src/catalog/catalog.ts';
import {
  type Address,
  addressUri,
  CatalogRefusal,
  type Entry,
  readAddress,
} from '../../../src/catalog/entry.ts';
import { LIMITS } from '../../../src/catalog/scan.ts';
import { needsCase, needsModes, needsSymlinks } from '../../windows/needs.ts';
import { assetNumbered, chatWith, useTree } from './tree.ts';

const tree = useTree();
const PNG = assetNumbered(1);
const PDF = assetNumbered(1, 'pdf', 'file');

const urisOf = ({ entries }: { readonly entries: readonly Entry[] }) =>
  entries.map(({ uri }) => decodeURIComponent(uri.slice('filechat://'.length))).sort();
const catalogOf = (...folders: string[]) => new Catalog({ folders });
const snapshot = () => catalogOf(tree.path).snapshot();
const listed = async (...folders: string[]) => urisOf(await catalogOf(...folders).snapshot());

describe('the list', () => {
  it('has every chat, and every asset under the chat that mentions it', async () => {
    tree.write('top.chat.md', '# %% user\nHello there\n');
    tree.write('notes/sales.chat.md', chatWith([PNG]));
    tree.touch(`notes/cmdassets/${PNG}`, `notes/cmdassets/${PDF}`, `cmdassets/${PDF}`);
    assert.deepEqual(await listed(tree.path), [
      `cmdassets/${PDF}`,
      `notes/cmdassets/${PDF}`,
      'notes/sales.chat.md',
      `notes/sales.chat.md/${PNG}`,
      'top.chat.md',
    ]);
  });

  it('has the facts of a chat and of an asset', async () => {
    const text = `---\ntitle: The sales\n---\n# %% user\nHi\n\n# %% tool docs.make c1\n[Tool generated file 1: quarterly.pdf](cmdassets/${PDF})\n`;
    tree.write('a.chat.md', text);
    tree.write(`cmdassets/${PDF}`, '12345');
    const { entries, folders, notes, isComplete } = await snapshot();
    const [chat, asset] = entries.map(({ changed, ...facts }) => ({
      ...facts,
      isDate: changed instanceof Date,
    }));
    assert.deepEqual(chat, {
      kind: 'chat',
      uri: 'filechat://a.chat.md',
      chat: 'a.chat.md',
      title: 'The sales',
      size: text.length,
      mimeType: 'text/markdown',
      isDate: true,
    });
    assert.deepEqual(asset, {
      kind: 'asset',
      uri: `filechat://a.chat.md/${PDF}`,
      chat: 'a.chat.md',
      asset: PDF,
      assetKind: 'file',
      name: 'quarterly.pdf',
      tool: 'docs.make',
      size: 5,
      mimeType: 'application/pdf',
      isDate: true,
    });
    assert.deepEqual(folders, [tree.path, tree.at('cmdassets')]);
    assert.deepEqual([notes, isComplete], [[], true]);
  });

  it('has chats first, and the latest first of each', async () => {
    const files = [
      'old.chat.md',
      'new.chat.md',
      `cmdassets/${assetNumbered(1)}`,
      `cmdassets/${assetNumbered(2)}`,
    ];
    for (const [index, file] of files.entries())
      utimesSync(tree.write(file), new Date(), new Date(1_700_000_000_000 + index * 1_000));
    const { entries } = await snapshot();
    assert.deepEqual(
      entries.map((entry) => (entry.kind === 'chat' ? entry.chat : entry.asset)),
      ['new.chat.md', 'old.chat.md', assetNumbered(2), assetNumbered(1)],
    );
  });

  for (const [rule, text, title] of [
    ['calls a chat without words by its name', '', 'a'],
    ['ignores a byte order mark before the first turn', '\uFEFF# %% user\nHello there\n', 'Hello there'],
  ] as const) {
    it(rule, async () => {
      tree.write('a.chat.md', text);
      const [entry] = (await snapshot()).entries;
      assert.equal(entry?.kind === 'chat' && entry.title, title);
    });
  }

  it('contains no other files', async () => {
    for (const file of ['a.md', 'cmdassets/notes.txt', `cmdassets/.${PNG}`, `cmdassets/${PNG}.part`, PNG])
      tree.write(file);
    for (const folder of ['node_modules', '.git', '.hidden', 'cmdassets', 'cmdassets/deep'])
      tree.write(`${folder}/a.chat.md`);
    assert.deepEqual(await listed(tree.path), []);
  });

  it('omits names that no address can contain, with a note', async () => {
    const onlyElsewhere = process.platform === 'win32' ? [] : ['a:b.chat.md', 'back\\slash.chat.md'];
    const bad = ['a%2Fb.chat.md', 'con.chat.md', ...onlyElsewhere];
    for (const file of [...bad, 'fine.chat.md']) tree.write(file);
    const { entries, notes } = await snapshot();
    assert.equal(entries.length, 1);
    assert.deepEqual(notes, [
      `${bad.length} chats are not listed, because the name does not fit into an address.`,
    ]);
  });
});

describe('an asset belongs to', () => {
  const again = `# %% tool filechat.read_asset c2\n![Tool generated image 1](cmdassets/${PNG})\n\n`;
  const named = `# %% tool other.list c3\n\`\`\`\nasset:${PNG}\n\`\`\`\n\n`;
  const labelled = (words: string) => ({ 'a.chat.md': `# %% user\n[${words}](cmdassets/${PNG})\n` });
  const linking = (path: string) => chatWith([PNG]).replaceAll('(cmdassets', `(${path}`);
  const cases: Readonly<Record<string, readonly [chats: () => Record<string, string>, owner: unknown[]]>> = {
    'the chat whose tool returned it, before one that mentions it': [
      () => ({ 'a.chat.md': `# %% user\n![it](cmdassets/${PNG})\n`, 'later.chat.md': chatWith([PNG]) }),
      ['later.chat.md', 'charts.bar', undefined],
    ],
    'the chat whose model made it, before one that mentions it': [
      () => ({
        'a.chat.md': `# %% user\n![it](cmdassets/${PNG})\n`,
        'later.chat.md': `# %% assistant\n[Model generated file 1: plan.pdf](cmdassets/${PNG})\n`,
      }),
      ['later.chat.md', undefined, 'plan.pdf'],
    ],
    'a chat that only mentions it, before none': [
      () => ({ 'a.chat.md': `# %% user\nUse asset:${PNG}\n` }),
      ['a.chat.md', undefined, undefined],
    ],
    'the chat of the shortest name, where a copy says the same': [
      () => Object.fromEntries(['s-2', 's', 's-copy'].map((name) => [`${name}.chat.md`, chatWith([PNG])])),
      ['s.chat.md', 'charts.bar', undefined],
    ],
    'the tool that returned it, not to one that shows it again or names it': [
      () => ({ 'a.chat.md': `${named}${again}${chatWith([PNG])}${again}` }),
      ['a.chat.md', 'charts.bar', undefined],
    ],
    'no chat of another folder': [
      () => ({ 'notes/a.chat.md': linking('../cmdassets') }),
      ['cmdassets', undefined, undefined],
    ],
    'a chat that links to it by its whole path': [
      () => ({ 'a.chat.md': linking(`${tree.path}/cmdassets`) }),
      ['a.chat.md', 'charts.bar', undefined],
    ],
    'the chat with the label of a pasted link, if the label is a file name': [
      () => labelled('my plan.pdf'),
      ['a.chat.md', undefined, 'my plan.pdf'],
    ],
    'the chat without a label that is not a file name': [
      () => labelled('see here'),
      ['a.chat.md', undefined, undefined],
    ],
    'the chat with a label without invisible characters': [
      () => labelled('a\u202egpj.pdf'),
      ['a.chat.md', undefined, 'agpj.pdf'],
    ],
  };
  for (const [rule, [chats, owner]] of Object.entries(cases)) {
    it(rule, async () => {
      tree.write(`cmdassets/${PNG}`);
      for (const [name, text] of Object.entries(chats())) tree.write(name, text);
      const { entries } = await snapshot();
      const found = entries.find((entry) => entry.kind === 'asset');
      assert.deepEqual([found?.chat, found?.tool, found?.name], owner);
    });
  }
});

describe('several folders', () => {
  it('come first in ids, by unique names', async () => {
    const folders = 'one/work two/work three/Work four/.hidden five/cmdassets'
      .split(' ')
      .map((each) => dirname(tree.write(`${each}/a.chat.md`)));
    const catalog = catalogOf(...folders);
    assert.deepEqual(catalog.labels, ['work', 'work-2', 'Work-3', 'hidden', 'folder']);
    assert.deepEqual(
      urisOf(await catalog.snapshot()),
      catalog.labels.map((label) => `${label}/a.chat.md`).sort(),
    );
    for (const label of catalog.labels) await catalog.find({ kind: 'chat', chat: `${label}/a.chat.md` });
  });

  it('have no label where one is given twice, or within another', async () => {
    tree.write('notes/a.chat.md');
    for (const folders of [
      [tree.path, tree.path],
      [tree.path, `${tree.path}/`],
      [tree.path, tree.at('notes')],
      [tree.at('notes'), tree.path],
    ])
      assert.deepEqual(await listed(...folders), ['notes/a.chat.md']);
  });

  it('list a file once where one leads to another by a link', needsSymlinks, async () => {
    tree.touch('real/a.chat.md', 'real/below/b.chat.md');
    symlinkSync(tree.at('real'), tree.at('link'));
    symlinkSync(tree.at('real/below'), tree.at('inner'));
    const folders = [tree.at('real'), tree.at('link'), tree.at('inner')];
    assert.deepEqual(await listed(...folders), ['real/a.chat.md', 'real/below/b.chat.md']);
    assert.deepEqual(await listed(tree.at('link')), ['a.chat.md', 'below/b.chat.md']);
  });

  it('are both listed where the outer one does not enter the inner one', async () => {
    tree.touch('a.chat.md', '.mine/b.chat.md');
    const name = basename(tree.path);
    assert.deepEqual(
      await listed(tree.path, tree.at('.mine')),
      [`${name}/a.chat.md`, 'mine/b.chat.md'].sort(),
    );
  });

  it('are listed without a missing one, with a note, and with it once it exists', async () => {
    tree.write('one/a.chat.md');
    const catalog = catalogOf(tree.at('one'), tree.at('two'));
    const { isComplete, notes, ...before } = await catalog.snapshot();
    assert.deepEqual(
      [isComplete, notes, urisOf(before)],
      [false, ['The folder two does not exist.'], ['one/a.chat.md']],
    );
    tree.write('two/b.chat.md');
    assert.deepEqual(urisOf(await catalog.snapshot()), ['one/a.chat.md', 'two/b.chat.md']);
  });

  it('are empty when no folder is given', async () => {
    assert.deepEqual(await listed(), []);
    await assert.rejects(
      new Catalog({ folders: [] }).find({ kind: 'chat', chat: 'a.chat.md' }),
      CatalogRefusal,
    );
  });
});

describe('limits', () => {
  it('are kept, with a note for each', async () => {
    for (let number = 1; number <= 5; number += 1) {
      tree.touch(`f${number}/${number}.chat.md`, `cmdassets/${assetNumbered(number)}`, `${number}.chat.md`);
    }
    for (const [limit, entryCount, ...expected] of [
      [{}, 15],
      [{ chats: 3 }, 8, 'There are more than 3 chats; the rest is not listed.'],
      [{ assets: 2 }, 12, 'There are more than 2 assets; the rest is not listed.'],
      [{ folders: 3 }, 11, 'There are more than 3 folders; the rest is not listed.'],
    ] as const) {
      const limits = { ...LIMITS, ...limit };
      const { entries, notes } = await new Catalog({ folders: [tree.path], limits }).snapshot();
      assert.deepEqual([entries.length, ...notes], [entryCount, ...expected]);
    }
  });

  it('end in the twelfth folder, whose assets are still found', async () => {
    const deep = 'a/'.repeat(12);
    tree.touch(`${deep}x.chat.md`, `${deep}cmdassets/${PNG}`, `${deep}a/y.chat.md`);
    const catalog = catalogOf(tree.path);
    const { notes, ...list } = await catalog.snapshot();
    assert.deepEqual(urisOf(list), [`${deep}cmdassets/${PNG}`, `${deep}x.chat.md`]);
    assert.deepEqual(notes, ['Folders more than 12 levels deep are not searched.']);
    await catalog.find({ kind: 'asset', chat: `${deep}cmdassets`, asset: PNG });
    await assert.rejects(catalog.find({ kind: 'chat', chat: `${deep}a/y.chat.md` }), CatalogRefusal);
  });

  it('a chat that is too long is listed and not read', async () => {
    tree.write('big.chat.md', chatWith([PNG]).padEnd(20_000_001));
    tree.write(`cmdassets/${PNG}`);
    const { notes, ...list } = await snapshot();
    assert.deepEqual(urisOf(list), ['big.chat.md', `cmdassets/${PNG}`]);
    assert.match(notes.join(), /^big\.chat\.md is longer than 20\.0 MB/);
  });

  it('a chat that cannot be read is listed with a note', async () => {
    tree.write('a.chat.md');
    const readChat = async () => {
      throw new Error('EACCES: /secret/path');
    };
    const { entries, notes } = await new Catalog({ folders: [tree.path], readChat }).snapshot();
    assert.equal(entries.length, 1);
    assert.deepEqual(notes, ['a.chat.md cannot be read, so its assets are listed without names and tools.']);
  });
});

describe('a folder that cannot be read', () => {
  /** Root drops its privileges, because it may read everything. */
  const asOtherUser = async <T>(work: () => Promise<T>): Promise<T> => {
    if (process.getuid?.() !== 0) return await work();
    for (const path of ['', 'open', 'open/a.chat.md', 'shut'])
      chownSync(tree.at(path), OTHER_USER, OTHER_USER);
    process.seteuid?.(OTHER_USER);
    try {
      return await work();
    } finally {
      process.seteuid?.(0);
    }
  };
  const OTHER_USER = 65_534;

  it('is a note, and the rest is listed', needsModes, async () => {
    tree.write('open/a.chat.md');
    mkdirSync(tree.at('shut'), { mode: 0 });
    try {
      const catalog = catalogOf(tree.path);
      const { notes, ...list } = await asOtherUser(() => catalog.snapshot());
      assert.deepEqual(urisOf(list), ['open/a.chat.md']);
      assert.deepEqual(notes, ['shut cannot be read: permission was denied.']);
    } finally {
      chmodSync(tree.at('shut'), 0o700);
    }
  });

  it('is a note when it is a file', async () => {
    tree.touch('file', 'work/a.chat.md');
    const { notes, ...list } = await catalogOf(tree.at('file'), tree.at('work')).snapshot();
    assert.deepEqual(urisOf(list), ['work/a.chat.md']);
    assert.deepEqual(notes, ['file cannot be read: there is no such file.']);
  });

  it('is one of a few notes where there are many', async () => {
    const folders = Array.from({ length: 30 }, (_each, index) => tree.at(`none${index}\n`));
    const { notes } = await new Catalog({ folders }).snapshot();
    assert.equal(notes.length, 21);
    assert.equal(notes.at(-1), 'There are 10 more notes like these.');
  });
});

describe('a second look', () => {
  const counting = () => {
    const read: string[] = [];
    const readChat = async (path: string) => {
      read.push(path);
      return await readFile(path, 'utf8');
    };
    return { read, catalog: new Catalog({ folders: [tree.path], readChat }) };
  };

  it('reads only the chats that have changed', async () => {
    for (const name of ['a', 'b', 'c']) tree.write(`${name}.chat.md`, chatWith([]));
    tree.write(`cmdassets/${PNG}`);
    const { read, catalog } = counting();
    await catalog.snapshot();
    assert.equal(read.length, 3);
    await catalog.snapshot();
    assert.equal(read.length, 3);
    tree.write('b.chat.md', chatWith([PNG]));
    const list = await catalog.snapshot();
    assert.deepEqual(read.slice(3), [tree.at('b.chat.md')]);
    assert.ok(urisOf(list).includes(`b.chat.md/${PNG}`));
  });

  it('rereads a file that was just written, because another write may leave its time unchanged', async () => {
    tree.write('a.chat.md');
    appendFileSync(tree.at('a.chat.md'), 'y');
    const { read, catalog } = counting();
    await catalog.snapshot();
    await catalog.snapshot();
    assert.equal(read.length, 2);
  });

  it('is shared by all requests before it begins; later requests share the next one', async () => {
    tree.write('a.chat.md');
    appendFileSync(tree.at('a.chat.md'), 'y');
    const { read, catalog } = counting();
    const first = [catalog.snapshot(), catalog.snapshot(), catalog.snapshot()];
    const [one, two] = await Promise.all(first);
    assert.equal(one, two);
    assert.equal(read.length, 1);
    const running = catalog.snapshot();
    await new Promise(setImmediate);
    tree.write('b.chat.md');
    const [late, later] = await Promise.all([catalog.snapshot(), catalog.snapshot(), running]);
    assert.equal(late, later);
    assert.deepEqual(urisOf(late), ['a.chat.md', 'b.chat.md']);
  });

  it('is not awaited after an abort, and continues for the others', async () => {
    tree.write('a.chat.md');
    const catalog = catalogOf(tree.path);
    const stop = new AbortController();
    const given = catalog.snapshot(stop.signal);
    const other = catalog.snapshot();
    stop.abort(new Error('enough'));
    await assert.rejects(given, /enough/);
    assert.equal((await other).entries.length, 1);
    await assert.rejects(catalog.snapshot(stop.signal), /enough/);
  });
});

describe('an entry found by its address', () => {
  const find = (uri: string) => {
    const read = readAddress(uri);
    assert.ok(read.ok, uri);
    return catalogOf(tree.path).find(read.address);
  };

  it('equals the listed one', async () => {
    tree.write('notes/sales.chat.md', chatWith([PNG]));
    tree.touch(`notes/cmdassets/${PNG}`, `cmdassets/${PDF}`);
    const catalog = catalogOf(tree.path);
    const { entries } = await catalog.snapshot();
    assert.equal(entries.length, 3);
    for (const entry of entries) {
      const read = readAddress(entry.uri);
      assert.ok(read.ok);
      assert.deepEqual((await catalog.find(read.address)).entry, entry);
    }
  });

  it('is an asset by any chat of its folder, and by its cmdassets', async () => {
    tree.write('notes/sales.chat.md', chatWith([PNG]));
    tree.touch('notes/other.chat.md', `notes/cmdassets/${PNG}`);
    for (const chat of ['notes%2Fsales.chat.md', 'notes%2Fother.chat.md', 'notes%2Fcmdassets']) {
      const { path, entry } = await find(`filechat://${chat}/${PNG}`);
      assert.equal(path, tree.at('notes/cmdassets', PNG));
      assert.equal(entry.uri, `filechat://${chat}/${PNG}`);
    }
    for (const chat of ['notes%2Fnone.chat.md', 'sales.chat.md', 'cmdassets'])
      await assert.rejects(find(`filechat://${chat}/${PNG}`), CatalogRefusal);
  });

  it('by name, includes every asset with that name', async () => {
    for (const folder of ['a', 'b']) tree.write(`${folder}/cmdassets/${PNG}`);
    const catalog = catalogOf(tree.path);
    const found = await catalog.findByName(PNG);
    assert.deepEqual(found.map(({ chat }) => chat).sort(), ['a/cmdassets', 'b/cmdassets']);
    for (const name of [PDF, '../a', '', 'notes.txt']) assert.deepEqual(await catalog.findByName(name), []);
  });

  it('two files that differ only in case are two', needsCase, async () => {
    tree.write('a.chat.md', '# %% user\nsmall\n');
    tree.write('A.chat.md', '# %% user\nlarge\n');
    for (const [name, title] of Object.entries({ a: 'small', A: 'large' })) {
      const { entry } = await find(`filechat://${name}.chat.md`);
      assert.equal(entry.kind === 'chat' && entry.title, title);
    }
  });
});

describe('the folder of an id', () => {
  it('is that of the chat, also before there are assets', async () => {
    tree.write('notes/sales.chat.md');
    const catalog = catalogOf(tree.path);
    assert.equal(await catalog.folderOf('notes/sales.chat.md'), tree.at('notes'));
    assert.equal(await catalog.folderOf('notes/cmdassets'), tree.at('notes'));
    assert.equal(await catalog.folderOf('cmdassets'), tree.path);
    for (const id of ['notes/none.chat.md', 'none/cmdassets', '../cmdassets', '/etc/cmdassets', 'notes', ''])
      await assert.rejects(catalog.folderOf(id), CatalogRefusal);
  });

  it('is undefined when its cmdassets is a link', needsSymlinks, async () => {
    tree.touch('outside/x', 'in/a.chat.md');
    symlinkSync(tree.at('outside'), tree.at('in/cmdassets'));
    const catalog = catalogOf(tree.at('in'));
    await assert.rejects(catalog.folderOf('a.chat.md'), CatalogRefusal);
    await assert.rejects(catalog.folderOf('cmdassets'), CatalogRefusal);
  });

  it('and the id of a file are inverse to each other', needsSymlinks, async () => {
    tree.touch('one/notes/a.chat.md', 'two/b.chat.md');
    symlinkSync(tree.at('one'), tree.at('link'));
    const catalog = catalogOf(tree.at('link'), tree.at('two'));
    assert.equal(await catalog.idOf(tree.at('one/notes/a.chat.md')), 'link/notes/a.chat.md');
    assert.equal(await catalog.idOf(tree.at('link/notes/a.chat.md')), 'link/notes/a.chat.md');
    assert.equal(await catalog.idOf(tree.at('two/cmdassets')), 'two/cmdassets');
    for (const path of ['three/a.chat.md', 'one/notes/a.md', 'one', 'one/.git/a.chat.md'])
      assert.equal(await catalog.idOf(tree.at(path)), undefined, path);
  });
});

describe('a recreated folder', () => {
  it('is read in its current state', async () => {
    tree.write('notes/a.chat.md');
    const catalog = catalogOf(tree.at('notes'));
    await catalog.snapshot();
    renameSync(tree.at('notes'), tree.at('old'));
    assert.deepEqual(urisOf(await catalog.snapshot()), []);
    mkdirSync(tree.at('notes'));
    tree.write('notes/b.chat.md');
    assert.deepEqual(urisOf(await catalog.snapshot()), ['b.chat.md']);
    rmSync(join(tree.path, 'notes'), { recursive: true });
    const gone: Address = { kind: 'chat', chat: 'b.chat.md' };
    await assert.rejects(catalog.find(gone), (error: Error) => {
      assert.ok(error instanceof CatalogRefusal);
      assert.ok(error.message.includes(addressUri(gone)));
      assert.ok(!error.message.includes(tree.path));
      return true;
    });
  });
});
