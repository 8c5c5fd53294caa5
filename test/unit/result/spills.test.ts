import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { processMixedToolResult } from '../../../src/mcpClient.ts';
import { renderToolResult } from '../../../src/result/markdown.ts';
import { temporaryFolder } from '../../kit/folder.ts';
import { FileSpills, MovingAssets, piecesOf } from './fileSpills.ts';
import { office, png } from './samples.ts';

const IMAGE = '![Tool generated image 1](cmdassets/tool-image-1.png)';
const PICTURE = png(2, 2, Buffer.alloc(20_000, 3));
const text = (value: string) => ({ type: 'text', text: value });
const image = (data: string) => ({ type: 'image', data, mimeType: 'image/png' });

describe('strings that were spilled', () => {
  const spills = new FileSpills(temporaryFolder({ after }));

  async function markdown(result: object, more: object = {}): Promise<string> {
    const parts = await processMixedToolResult(result, new MovingAssets(), { spills, ...more });
    const shown = renderToolResult(parts);
    assert.doesNotMatch(shown, /filechat-spill/);
    return shown;
  }

  it('are files, in data, in a blob, and in a text', async () => {
    const resource = { uri: 'x://p.png', blob: await spills.put(PICTURE) };
    assert.equal(await markdown({ content: [image(await spills.put(PICTURE))] }), IMAGE);
    assert.equal(await markdown({ content: [{ type: 'resource', resource }] }), IMAGE);
    assert.equal(await markdown({ content: [text(await spills.put(PICTURE))] }), IMAGE);
  });

  it('that are text after all are text again', async () => {
    const genes = 'ACGT'.repeat(2000);
    const spilled = () => spills.put(Buffer.from(genes, 'base64'), { pieces: piecesOf(genes) });
    assert.equal(
      await markdown({ content: [text(await spilled())] }),
      await markdown({ content: [text(genes)] }),
    );
    const structured = await markdown({ content: [], structuredContent: { genes: await spilled() } });
    assert.ok(structured.includes(genes));
  });

  it('in structured content refer to the block with the same bytes, spilled or not', async () => {
    const words = '```json\n{\n  "n": 1,\n  "p": "(image/png, 20057 bytes, saved as image 1)"\n}\n```';
    for (const data of [await spills.put(PICTURE), PICTURE.toString('base64')]) {
      const structuredContent = { n: 1, p: await spills.put(PICTURE) };
      assert.equal(await markdown({ content: [image(data)], structuredContent }), `${IMAGE}\n\n${words}`);
    }
  });

  it('in structured content that differ in one byte are files of their own', async () => {
    const other = Buffer.from(PICTURE);
    other[15_000] = 4;
    const structuredContent = { p: await spills.put(other) };
    const shown = await markdown({ content: [image(await spills.put(PICTURE))], structuredContent });
    assert.match(shown, /saved as image 2/);
  });

  it('in structured content and in JSON text are shown once', async () => {
    const content = [text(JSON.stringify({ p: PICTURE.toString('base64') }))];
    const shown = await markdown({ content, structuredContent: { p: await spills.put(PICTURE) } });
    assert.equal(
      shown,
      `\`\`\`json formatted\n{\n  "p": "(image/png, 20057 bytes, saved as image 1)"\n}\n\`\`\`\n\n${IMAGE}`,
    );
  });

  it('are judged by both ends, and by their claims', async () => {
    const cut = PICTURE.subarray(0, 15_000);
    const xlsx = office('spreadsheetml.sheet', 10_000);
    const resource = { uri: 'x://book.xlsx', blob: await spills.put(xlsx) };
    assert.equal(
      await markdown({ content: [image(await spills.put(cut)), { type: 'resource', resource }] }),
      '[Tool generated file 1](cmdassets/tool-file-1.png)\n\n[Tool generated file 2: book.xlsx](cmdassets/tool-file-2.xlsx)',
    );
  });

  it('that were refused or failed are reported in place', async () => {
    const refused = spills.add({ kind: 'refused', size: 60 * 1024 * 1024 });
    const failed = spills.add({ kind: 'failed', size: 5, reason: 'the disk is full' });
    const tooLarge = 'was not saved: it has 62.9 MB, and filechat.results.maxAssetBytes allows 52.4 MB.';
    assert.equal(
      await markdown({
        content: [image(refused), text(refused), image(failed)],
        structuredContent: { n: 1, a: refused },
      }),
      `> ⚠ The image ${tooLarge}\n\n> ⚠ The data ${tooLarge}\n\n> ⚠ The image could not be saved: the disk is full.\n\n\`\`\`json\n{\n  "n": 1,\n  "a": "(62.9 MB, not saved)"\n}\n\`\`\``,
    );
  });

  it('that are texts and failed leave their beginning', async () => {
    const failed = spills.add({
      kind: 'failed',
      size: 9e6,
      reason: 'the disk is full',
      preview: 'Once upon…',
    });
    const shown = await markdown({ content: [text(failed)] });
    assert.match(
      shown,
      /^> ⚠ The data could not be saved: the disk is full\.\n\n```text preview\nOnce upon…\n```$/,
    );
  });

  it('are found in unexpected fields', async () => {
    const spilled = async () => spills.put(PICTURE, { pieces: piecesOf('the original') });
    const shown = await markdown({
      content: [
        { type: await spilled() },
        { type: 'resource_link', uri: 'x://a', name: await spilled() },
        { type: 'resource', resource: { uri: await spilled(), mimeType: await spilled(), text: 'hi' } },
      ],
      structuredContent: { [await spilled()]: 1 },
    });
    assert.deepEqual(shown.split('\n\n'), [
      '> ⚠ Block 1 of the result has an unknown type: “the original”.',
      '> Resource `the original` at `x://a`',
      '> From `the original` (`the original`)',
      '```\nhi\n```',
      '```json\n{\n  "(image/png, 20057 bytes, saved as image 1)": 1\n}\n```',
      IMAGE,
    ]);
  });

  it('of a field in the settings are files, whatever they are', async () => {
    const structuredContent = { p: await spills.put(Buffer.alloc(5000)) };
    const fields = [{ path: 'p', type: 'application/x-tar' }];
    const shown = await markdown({ content: [], structuredContent }, { fields });
    assert.match(shown, /\(application\/x-tar, 5000 bytes, saved as file 1\)/);
  });
});
