import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { beforeEach, describe, it } from 'node:test';
import fc from 'fast-check';
import { readAssetName } from '../../../src/base/assetNames.ts';
import { Catalog } from '../../../src/catalog/catalog.ts';
import { CatalogRefusal } from '../../../src/catalog/entry.ts';
import { checkUploadName, saveAsset, type UploadLimits, UploadStores } from '../../../src/catalog/save.ts';
import type { Upload } from '../../../src/catalog/toolSpecs.ts';
import { anySign } from '../../kit/anySign.ts';
import { PNG_BASE64 as PNG } from '../../kit/png.ts';
import { needsSymlinks } from '../../windows/needs.ts';
import { useChatFolder } from '../assets/folder.ts';

const folder = useChatFolder();
beforeEach(() => writeFileSync(join(folder.path, 'a.chat.md'), '# %% user\nHello\n'));

const LIMITS: UploadLimits = { maxBytes: 1000, allowedMimeTypes: ['*/*'] };
const stores = new UploadStores();
const save = (upload: Upload, limits: Partial<UploadLimits> = {}, folders = [folder.path]) =>
  saveAsset(new Catalog({ folders }), upload, { ...LIMITS, ...limits }, stores);
const assets = () => folder.files().filter((name) => readAssetName(name));
const contentOf = (asset: string) => readFileSync(folder.asset(asset));

async function refused(words: RegExp, ...given: Parameters<typeof save>): Promise<void> {
  const before = folder.files();
  await assert.rejects(save(...given), (error: Error) => {
    assert.ok(error instanceof CatalogRefusal, String(error));
    assert.match(error.message, words);
    assert.ok(!error.message.includes(folder.path), 'no path of the machine goes out');
    return true;
  });
  assert.deepEqual(folder.files(), before, 'nothing was written');
}

describe('an upload', () => {
  it('is a file of the contract beside the chat, with its address and its link', async () => {
    const { entry, markdown } = await save({ chat: 'a.chat.md', name: 'my dot.png', data: PNG });
    assert.deepEqual(assets(), [entry.asset]);
    const { kind, extension } = readAssetName(entry.asset) ?? {};
    assert.deepEqual([kind, extension], ['image', 'png']);
    assert.deepEqual(contentOf(entry.asset), Buffer.from(PNG, 'base64'));
    assert.equal(entry.uri, `filechat://a.chat.md/${entry.asset}`);
    assert.deepEqual(
      [entry.name, entry.mimeType, entry.size],
      ['my dot.png', 'image/png', contentOf(entry.asset).length],
    );
    assert.equal(markdown, `![my dot.png](cmdassets/${entry.asset})`);
  });

  it('changes no chat', async () => {
    await save({ chat: 'a.chat.md', name: 'a.txt', text: 'x' });
    assert.equal(readFileSync(join(folder.path, 'a.chat.md'), 'utf8'), '# %% user\nHello\n');
    assert.deepEqual(readdirSync(folder.path).sort(), ['a.chat.md', 'cmdassets']);
  });

  const types: Record<string, [upload: Omit<Upload, 'name'> & { name?: string }, expected: string]> = {
    'text by its name': [{ name: 'a.csv', text: 'a,b' }, 'file csv'],
    'text by its type': [{ text: '{}', mimeType: 'application/json' }, 'file json'],
    'text of no type': [{ text: 'all: test' }, 'file txt'],
    'text that is declared as an image': [{ name: 'a.png', mimeType: 'image/png', text: 'no' }, 'file txt'],
    'text that is an SVG': [{ text: '<svg xmlns="x"/>' }, 'file svg'],
    'bytes by their signature, whatever is declared': [
      { name: 'a.txt', mimeType: 'text/plain', data: PNG },
      'image png',
    ],
    'bytes by their type': [{ data: 'AAEC', mimeType: 'audio/mpeg' }, 'audio mp3'],
    'bytes by the type of a data: URL': [{ data: 'data:audio/mpeg;base64,AAEC' }, 'audio mp3'],
    'bytes by their name': [{ name: 'a.sqlite', data: 'AAEC' }, 'file sqlite'],
    'bytes of no type': [{ data: 'AAEC' }, 'file bin'],
    'bytes in lines and of the other alphabet': [{ data: '-_-_\r\n-_-_\n' }, 'file bin'],
    'no extension that the table does not have': [{ name: 'a.exe', text: 'echo' }, 'file txt'],
  };
  for (const [name, [upload, expected]] of Object.entries(types)) {
    it(`is judged: ${name}`, async () => {
      const { entry, markdown } = await save({ name: 'thing', ...upload });
      const read = readAssetName(entry.asset);
      assert.equal(`${read?.kind} ${read?.extension}`, expected);
      assert.equal(markdown.startsWith('!'), expected.startsWith('image'));
    });
  }

  it('is text as UTF-8, every character', async () => {
    const { entry } = await save({ name: 'a.md', text: '\ufeffGröße 😀\r\n' });
    assert.equal(contentOf(entry.asset).toString(), '\ufeffGröße 😀\r\n');
  });

  it('is the same file for the same bytes, even concurrently', async () => {
    const names = await Promise.all(
      ['a.txt', 'b.txt', 'c.txt'].map(async (name) => (await save({ name, text: 'same' })).entry.asset),
    );
    assert.equal(new Set(names).size, 1);
    assert.equal((await save({ name: 'd.txt', text: 'same' })).entry.asset, names[0]);
    assert.equal(assets().length, 1);
  });

  it('has a link that only refers to the file, and from which the chat reads its name', async () => {
    const name = 'my_[best]*file*.csv';
    const { entry, markdown } = await save({ chat: 'a.chat.md', name, text: 'a' });
    assert.equal(markdown, `[my\\_\\[best\\]\\*file\\*.csv](cmdassets/${entry.asset})`);
    writeFileSync(join(folder.path, 'a.chat.md'), `# %% user\nLook at ${markdown}.\n`);
    const { entries } = await new Catalog({ folders: [folder.path] }).snapshot();
    assert.equal(entries.find(({ uri }) => uri === entry.uri)?.kind, 'asset');
    assert.equal(entries.flatMap((each) => (each.kind === 'asset' ? [each.name] : []))[0], name);
  });
});

describe('the folder of an upload', () => {
  it('is cmdassets/ of the only folder, which may not exist yet', async () => {
    rmSync(folder.asset('.'), { recursive: true });
    const { entry } = await save({ name: 'a.txt', text: 'a' });
    assert.equal(entry.chat, 'cmdassets');
    assert.deepEqual(assets(), [entry.asset]);
  });

  it('is beside a chat of a folder below', async () => {
    mkdirSync(join(folder.path, 'notes'));
    writeFileSync(join(folder.path, 'notes', 'b.chat.md'), '');
    const { entry } = await save({ chat: 'notes/b.chat.md', name: 'a.txt', text: 'a' });
    assert.ok(existsSync(join(folder.path, 'notes', 'cmdassets', entry.asset)));
    assert.equal(entry.uri, `filechat://notes%2Fb.chat.md/${entry.asset}`);
  });

  it('is required when there are several folders', async () => {
    const folders = ['x', 'y'].map((each) => join(folder.path, each));
    for (const each of folders) mkdirSync(each);
    await refused(/several folders.*x\/cmdassets, y\/cmdassets/, { name: 'a.txt', text: 'a' }, {}, folders);
    const { entry } = await save({ chat: 'y/cmdassets', name: 'a.txt', text: 'a' }, {}, folders);
    assert.ok(existsSync(join(folder.path, 'y', 'cmdassets', entry.asset)));
  });

  const elsewhere = 'b.chat.md ../a.chat.md /etc/cmdassets cmdassets/.. %2e%2e/cmdassets a.chat.md\0'.split(
    ' ',
  );
  for (const chat of elsewhere) {
    it(`is not ${JSON.stringify(chat)}`, () =>
      refused(/^There is nothing at/, { chat, name: 'a.txt', text: 'a' }));
  }

  it('is not a link', needsSymlinks, async () => {
    const outside = join(folder.path, '..', `${basename(folder.path)}-outside`);
    mkdirSync(outside);
    try {
      rmSync(folder.asset('.'), { recursive: true });
      symlinkSync(outside, folder.asset('.'));
      await refused(/There is nothing at cmdassets/, { name: 'a.txt', text: 'a' });
      assert.deepEqual(readdirSync(outside), []);
    } finally {
      rmSync(outside, { recursive: true });
    }
  });

  it('is reported with the reason when it is not writable, and without its path', async () => {
    class FullDisk extends UploadStores {
      readonly #said: string;
      constructor(said: string) {
        super();
        this.#said = said;
      }
      override save(): Promise<never> {
        return Promise.reject(new Error(this.#said));
      }
    }
    const upload = { name: 'a.txt', text: 'a' };
    const refusal = (said: string) =>
      saveAsset(new Catalog({ folders: [folder.path] }), upload, LIMITS, new FullDisk(said)).then(
        String,
        String,
      );
    assert.match(await refusal('the disk is full.'), /a\.txt was not saved\. the disk is full\.$/);
    assert.match(
      await refusal(`EIO, open '${folder.asset('x')}'`),
      /not saved\. Its folder could not be written\.$/,
    );
  });
});

describe('an upload is refused', () => {
  const cases: Record<string, [words: RegExp, upload: Partial<Upload>, limits?: Partial<UploadLimits>]> = {
    'with an invalid name': [/file name is invalid: it contains a slash/, { name: '../a.txt', text: 'a' }],
    'without content': [/either data or text/, {}],
    'with two contents': [/either data or text/, { data: 'AAEC', text: 'a' }],
    'with empty text': [/it is empty/, { text: '' }],
    'with empty data': [/it is empty/, { data: 'data:text/plain;base64,' }],
    'with data that is not base64': [/not base64/, { data: 'AA!EC' }],
    'with data that is cut off': [/incomplete/, { data: 'AAECA' }],
    'with an unpaired surrogate': [/unpaired surrogate/, { text: 'a\ud800' }],
    'with too much text': [/larger than the limit of 1\.0 KB/, { text: 'é'.repeat(501) }],
    'with too many bytes': [/larger than/, { data: Buffer.alloc(1001).toString('base64') }],
    'with a type that is not allowed': [
      /image\/png\. Allowed types: text\/\*, application\/pdf/,
      { data: PNG, mimeType: 'application/pdf' },
      { allowedMimeTypes: ['text/*', 'application/pdf'] },
    ],
    'where nothing is allowed': [/Allowed types: nothing\./, { text: 'a' }, { allowedMimeTypes: [] }],
  };
  for (const [name, [words, upload, limits]] of Object.entries(cases)) {
    it(name, () => refused(words, { name: 'a.txt', ...upload }, limits));
  }

  it('by its length, before it is decoded', () =>
    // The beginning is not base64, which decoding would detect.
    refused(/larger than/, { name: 'a.bin', data: '!'.repeat(10_000) }));

  it('not at exactly the limit, however it is wrapped', async () => {
    const bytes = Buffer.alloc(1000, 1);
    const wrapped = bytes.toString('base64').replace(/.{76}/g, '$&\r\n');
    const { entry } = await save({ name: 'a.bin', data: `data:application/octet-stream;base64,${wrapped}` });
    assert.equal(entry.size, 1000);
    assert.equal((await save({ name: 'a.txt', text: 'x'.repeat(1000) })).entry.size, 1000);
  });
});

describe('the name of an upload', () => {
  const names = 'report.pdf|Größe 2 (neu).csv|日本語.txt|👩‍👩‍👧.png|Makefile|a..b|console.log|50%.txt'.split(
    '|',
  );
  for (const name of [...names, `${'x'.repeat(116)}.txt`]) {
    it(`may be ${name}`, () => assert.equal(checkUploadName(name), undefined));
  }

  const refused: Record<string, readonly string[]> = {
    'it is empty': [''],
    'it contains a slash: give one name, without folders': ['a/b', '../b', '/etc/passwd', 'a\\b', '..\\b'],
    'it contains a colon': ['C:b.txt', 'b.txt:stream'],
    'it contains a control character': ['a\0b', 'a\nb', 'a\u007fb', 'a\u0085b', 'a\u2028b'],
    'it begins with a dot': ['.', '..', '.env', '...'],
    'it begins with a space': [' a', '\u00a0a'],
    'it ends with a dot or a space': ['a.', 'a ', 'a.txt\u3000'],
    'it is the name of a device': ['con', 'NUL.txt', 'com1', 'Lpt9.tar.gz', 'COM¹', 'aux .txt', 'CONIN$'],
    'it contains an unpaired surrogate': ['a\ud800b', '\udc00'],
    'it contains a bidirectional control character': ['gpj.\u202eexe', 'a\u2067b'],
    'it is longer than 120 characters': ['x'.repeat(121)],
  };
  for (const [reason, names] of Object.entries(refused)) {
    for (const name of names) {
      it(`may not be ${JSON.stringify(name.slice(0, 30))}: ${reason}`, () =>
        assert.equal(checkUploadName(name), reason));
    }
  }

  it('never contains a path', () => {
    const signs = fc.constantFrom('/', '\\', '.', '..', ':', '\0', ' ', 'a', '~', '%2f');
    fc.assert(
      fc.property(fc.string({ unit: fc.oneof(signs, fc.string({ unit: anySign })) }), (name) => {
        if (checkUploadName(name) !== undefined) return;
        assert.ok(!/[/\\:\0]/.test(name) && name.trim() !== '' && !/^\.|[. ]$/.test(name));
      }),
    );
  });
});
