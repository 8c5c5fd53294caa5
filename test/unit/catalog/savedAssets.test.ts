import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { findUnlinked } from '../../../src/base/assetNames.ts';
import { Catalog } from '../../../src/catalog/catalog.ts';
import { listAssets } from '../../../src/catalog/listAssets.ts';
import { saveAsset, UploadStores } from '../../../src/catalog/save.ts';
import { parseSaved, recordSaved, SAVED_FILE } from '../../../src/catalog/savedAssets.ts';
import { needsSymlinks } from '../../windows/needs.ts';
import { assetNumbered, chatWith, useTree } from './tree.ts';

const tree = useTree();
const ASSET = assetNumbered(1, 'txt', 'file');
const OTHER = assetNumbered(2, 'txt', 'file');
const LIMITS = { maxBytes: 1000, allowedMimeTypes: ['*/*'], by: 'claude-ai 1.2.0' };

const open = () => new Catalog({ folders: [tree.path] });
const save = (name: string, chat?: string) =>
  saveAsset(open(), { name, text: `${name} of ${chat}`, chat }, LIMITS, new UploadStores());
const listed = async (query = {}) =>
  (await listAssets(open(), query)).assets.map(({ chat, name, savedBy }) => [chat, name, savedBy]);

describe('a saved file', () => {
  it('is found by its name, its chat and its client, and no chat is changed', async () => {
    for (const name of ['a.chat.md', 'b.chat.md']) tree.write(`notes/${name}`, '# %% user\nHi\n');
    await save('quarterly-plan.txt', 'notes/a.chat.md');
    await save('loose.txt', 'notes/cmdassets');
    const plan = ['notes/a.chat.md', 'quarterly-plan.txt', 'claude-ai 1.2.0'];
    for (const query of [{ filter: 'quarterly' }, { chat: 'notes/a.chat.md' }, { filter: 'claude plan' }])
      assert.deepEqual(await listed(query), [plan]);
    assert.deepEqual(await listed({ filter: 'loose' }), [
      ['notes/cmdassets', 'loose.txt', 'claude-ai 1.2.0'],
    ]);
    for (const name of ['a.chat.md', 'b.chat.md'])
      assert.equal(readFileSync(tree.at('notes', name), 'utf8'), '# %% user\nHi\n');
  });

  it('stays with its chat when another chat mentions it, and moves on when its chat is gone', async () => {
    tree.write('a-long-name.chat.md', '# %% user\nHi\n');
    const { entry, markdown } = await save('plan.txt', 'a-long-name.chat.md');
    tree.write('b.chat.md', `# %% user\n${markdown}\n`);
    assert.deepEqual(await listed(), [['a-long-name.chat.md', 'plan.txt', LIMITS.by]]);
    const lines = readFileSync(tree.at('cmdassets', SAVED_FILE), 'utf8');
    writeFileSync(tree.at('cmdassets', SAVED_FILE), lines.replace('a-long-name', 'renamed'));
    assert.deepEqual(await listed(), [['b.chat.md', 'plan.txt', LIMITS.by]]);
    const { entry: found } = await open().find({ kind: 'asset', chat: 'b.chat.md', asset: entry.asset });
    assert.equal(found.kind === 'asset' && found.savedBy, LIMITS.by);
  });

  it('that a tool returned before belongs to the chat of the tool', async () => {
    tree.write('a.chat.md', chatWith([ASSET]));
    tree.write('b.chat.md', '# %% user\nHi\n');
    tree.write(`cmdassets/${ASSET}`, 'same');
    await recordSaved(tree.at('cmdassets'), ASSET, { name: 'copy.txt', chat: 'b.chat.md', by: 'x 1' });
    assert.deepEqual(await listed(), [['a.chat.md', 'copy.txt', 'x 1']]);
  });

  it('is not saved less because its name cannot be remembered', async () => {
    mkdirSync(tree.at('cmdassets', SAVED_FILE), { recursive: true });
    const { entry, notes } = await save('plan.txt', 'cmdassets');
    assert.ok(existsSync(tree.at('cmdassets', entry.asset)));
    assert.deepEqual(notes, ['cmdassets/saved.jsonl could not be written, so lists do not show this name.']);
  });
});

describe('the file of saved names', () => {
  it('takes lines of many writers at once, and a line after half a line', async () => {
    mkdirSync(tree.at('cmdassets'));
    writeFileSync(tree.at('cmdassets', SAVED_FILE), '{"asset":"half');
    const numbers = Array.from({ length: 50 }, (_, at) => at + 1);
    await Promise.all(
      numbers.map((number) =>
        recordSaved(tree.at('cmdassets'), assetNumbered(number), { name: `${number}.png` }),
      ),
    );
    const saved = parseSaved(readFileSync(tree.at('cmdassets', SAVED_FILE), 'utf8'));
    assert.deepEqual(
      numbers.map((number) => saved.get(assetNumbered(number))?.name),
      numbers.map((number) => `${number}.png`),
    );
  });

  const record = (fields: object) => JSON.stringify({ asset: ASSET, ...fields });
  const lines: Readonly<Record<string, [text: string, expected: object | undefined]>> = {
    'garbage is ignored': ['\0\xff{[\nnull\n[]\n"x"\n{"asset":5}\n{"asset":"../a.txt"}', undefined],
    'the last line of an asset counts': [`${record({ name: 'a' })}\n${record({ name: 'b' })}`, { name: 'b' }],
    'wrong fields are dropped': [record({ name: 5, chat: {}, by: [] }), {}],
    'a chat of another folder is dropped': [record({ chat: '../a.chat.md' }), {}],
    'a chat is a chat': [record({ chat: 'passwd' }), {}],
    'text is made visible, on one line': [record({ name: 'a\u202e\nb' }), { name: 'a b' }],
    'long text is cut': [record({ by: 'x'.repeat(300) }), { by: 'x'.repeat(200) }],
    'a line that is too long is ignored': [record({ name: 'x'.repeat(5000) }), undefined],
  };
  for (const [name, [text, expected]] of Object.entries(lines)) {
    it(name, () => {
      const saved = parseSaved(text).get(ASSET);
      assert.deepEqual(saved, expected && { name: undefined, chat: undefined, by: undefined, ...expected });
    });
  }

  it('of a size beyond the budget is read from its end', async () => {
    tree.write(`cmdassets/${ASSET}`);
    tree.write(`cmdassets/${OTHER}`);
    const filler = `${'x'.repeat(1023)}\n`.repeat(5000);
    const line = (asset: string) => `${JSON.stringify({ asset, name: 'known.txt' })}\n`;
    tree.write(`cmdassets/${SAVED_FILE}`, `${line(ASSET)}${filler}${line(OTHER)}`);
    assert.deepEqual((await listed()).map(([, name]) => name).sort(), ['known.txt', undefined]);
  });

  it('is not followed out of the folder, neither to read nor to write', needsSymlinks, async () => {
    tree.write(`served/cmdassets/${ASSET}`);
    const outside = tree.write('outside.jsonl', `${JSON.stringify({ asset: ASSET, name: 'secret.txt' })}\n`);
    symlinkSync(outside, tree.at('served/cmdassets', SAVED_FILE));
    const before = readFileSync(outside, 'utf8');
    const { assets } = await listAssets(new Catalog({ folders: [tree.at('served')] }), {});
    assert.deepEqual(
      assets.map(({ name }) => name),
      [undefined],
    );
    await assert.rejects(
      recordSaved(tree.at('served/cmdassets'), ASSET, { name: 'a' }),
      /not a regular file/,
    );
    assert.equal(readFileSync(outside, 'utf8'), before);
  });

  it('is not an asset, so that cleaning up leaves it alone', () => {
    assert.deepEqual(findUnlinked([], [SAVED_FILE, ASSET]), [ASSET]);
  });
});
