import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { makeEncryptedPdf, makePdf } from '../../../kit/documents.ts';
import { MemoryAttachments, type MemoryFile, show } from './requests.ts';

const path = (number: number, ending: string) =>
  `cmdassets/tool-file-20261116-093012-V1StGXR8-${number}.${ending}`;
const pdf = (...pages: readonly string[]): MemoryFile => ({
  bytes: makePdf(...pages),
  mimeType: 'application/pdf',
});
const wav = (size = 10): MemoryFile => ({ bytes: 'RIFF', mimeType: 'audio/wav', size });
const pages = (count: number) => Array.from({ length: count }, (_, at) => `Page ${at + 1}.`);

/** What the model gets of files that tools returned, each in a turn of its own. */
function view(
  files: readonly MemoryFile[],
  more: Parameters<typeof show>[1] = {},
  maker = 'tool',
): Promise<string> {
  const named = files.map((file, at) => {
    const kind = file.mimeType?.startsWith('audio/') ? 'audio' : 'file';
    return {
      file,
      kind,
      path: path(at + 1, kind === 'audio' ? 'wav' : 'pdf').replace('tool-file', `${maker}-${kind}`),
    };
  });
  const turns = named.map((each, at) => {
    const link = `[${maker === 'tool' ? 'Tool' : 'Model'} generated ${each.kind} 1](${each.path})\n\n`;
    if (maker === 'model') return `# %% assistant\n${link}`;
    return `# %% assistant\n\`\`\`tool_call a.b c${at + 1}\n{}\n\`\`\`\n\n# %% tool a.b c${at + 1}\n${link}`;
  });
  const attachments = new MemoryAttachments(Object.fromEntries(named.map((each) => [each.path, each.file])));
  return show(`# %% user\nA\n\n${turns.join('')}# %% user\nB\n`, { attachments, ...more });
}

const sentIn = (shown: string) =>
  [...shown.matchAll(/<(?:application|audio)\/\w+ \S+-(\d+)\.\w+>/g)].map(([, at]) => at);
const deaf = { model: { name: 'm', accepts: () => false } };
const hearing = { model: { name: 'm', accepts: () => true } };

describe('a PDF that a tool returned', () => {
  it('is sent as a document, with its name, to a model that accepts them', async () => {
    assert.match(
      await view([pdf('Sales')]),
      /result c1 a__b\n {4}\[file 1, application\/pdf, \d+ bytes, asset:tool-file-\S+-1\.pdf\]\n {4}<application\/pdf tool-file-\S+-1\.pdf>\n/,
    );
  });

  it('is its text by page for other models, and if files of results are not sent', async () => {
    const text =
      /\[file 1, application\/pdf, \d+ bytes, asset:\S+\]\n {4}Its text:↵## Page 1↵↵Sales↵↵## Page 2↵↵Costs\n/;
    assert.match(await view([pdf('Sales', 'Costs')], deaf), text);
    assert.match(await view([pdf('Sales', 'Costs')], { sendImages: 'never' }), text);
  });

  it('is the text of its first pages if it has too many', async () => {
    const shown = await view([pdf(...pages(101))]);
    assert.deepEqual(sentIn(shown), []);
    assert.match(shown, /## Page 20↵↵Page 20\.↵↵\[Cut at page 20 of 101: there is more\.\]\n/);
  });

  it('is sent as text if the newer ones have used up the pages of a request', async () => {
    const shown = await view([pdf(...pages(60)), pdf(...pages(50)), pdf(...pages(40))]);
    assert.deepEqual(sentIn(shown), ['2', '3']);
  });

  it('is a line if five newer ones or more follow', async () => {
    const shown = await view(Array.from({ length: 6 }, (_, at) => pdf(`No. ${at}`)));
    assert.deepEqual(sentIn(shown), ['6']);
    assert.doesNotMatch(shown, /Its text/);
    assert.deepEqual(sentIn(await view(Array.from({ length: 5 }, () => pdf('x')))), [
      '1',
      '2',
      '3',
      '4',
      '5',
    ]);
  });

  it('is a line if it cannot be read: a provider would refuse every later request', async () => {
    for (const bytes of [makeEncryptedPdf(), '%PDF-1.7\nnothing']) {
      const shown = await view([{ bytes, mimeType: 'application/pdf' }]);
      assert.deepEqual(sentIn(shown), []);
      assert.match(shown, /result c1 a__b\n {4}\[file 1, application\/pdf, [\d.]+ \w+, asset:\S+\]\nuser/);
    }
  });
});

describe('audio that a tool returned', () => {
  it('is sent as such to a model that accepts it, and is a line for others', async () => {
    assert.deepEqual(sentIn(await view([wav()], hearing)), ['1']);
    assert.match(await view([wav()]), /\[audio 1, audio\/wav, 10 bytes, asset:tool-audio-\S+\]/);
    assert.deepEqual(sentIn(await view([wav()], { ...hearing, sendImages: 'never' })), []);
  });

  it('is a line if it is too large, and the newest stay if all together are', async () => {
    assert.deepEqual(sentIn(await view([wav(20_000_001)], hearing)), []);
    const large = Array.from({ length: 6 }, () => wav(9_000_000));
    assert.deepEqual(sentIn(await view(large, hearing)), []);
  });
});

it('a PDF or audio that a model made is a line', async () => {
  assert.deepEqual(sentIn(await view([pdf('x'), wav()], hearing, 'model')), []);
});
