/** The settings and the module of docs/results.md, with the results that the page is about. */

import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { ToolSettings } from '../../../src/mcp/config/toolSettings.ts';
import { readFieldRules } from '../../../src/result/findBytes.ts';
import type { Transform } from '../../../src/result/transform.ts';
import { temporaryFolder } from '../../kit/folder.ts';
import { repositoryPath } from '../helpers/sampleServer.ts';
import { fixture, serve } from '../helpers/serving.ts';

const FENCE = /^(`{3,})\w+ file=(\S+)\n([\s\S]*?)^\1$/gm;
const page = readFileSync(repositoryPath('docs/results.md'), 'utf8');
const files = new Map([...page.matchAll(FENCE)].map(([, , name = '', code = '']) => [name, code]));

const folder = temporaryFolder({ after });
const PDF = Buffer.concat([
  Buffer.from('%PDF-1.4\n'),
  Buffer.alloc(399_985, 'stream '),
  Buffer.from('%%EOF\n'),
]);
const paths = { pdf: join(folder, 'workbook.pdf'), module: join(folder, 'tableau.mjs') };
writeFileSync(paths.pdf, PDF);
writeFileSync(paths.module, files.get('tableau.mjs') ?? '');

const fromPage = async (): Promise<Transform> => (await import(pathToFileURL(paths.module).href)).default;
let settings: ToolSettings = {};
const tableau = {
  kind: 'stdio',
  command: process.execPath,
  args: [fixture('tableau-server.mjs'), paths.pdf],
  env: {},
} as const;
const { callInChat } = serve({ after }, { tableau }, { settings: () => settings });

/** The body of the result, with the file name of the page, and the saved files. */
async function call(tool: string, args: Readonly<Record<string, unknown>> = {}) {
  const { markdown, folder: chat } = await callInChat(`tableau.${tool}`, args);
  const shown = markdown.replaceAll(
    /tool-file-\d+-\d+-[\w-]+-(\d)/g,
    'tool-file-20261116-093012-V1StGXR8-$1',
  );
  const assets = readdirSync(chat).includes('cmdassets') ? join(chat, 'cmdassets') : undefined;
  const names = assets ? readdirSync(assets).filter((name) => !name.startsWith('.')) : [];
  return { shown, saved: names.map((name) => readFileSync(join(assets ?? '', name))) };
}

const LINK = '[Tool generated file 1](cmdassets/tool-file-20261116-093012-V1StGXR8-1.pdf)';
const LEFT_OUT =
  '> ⚠ Your transformer omitted a file of the result of tableau.download_workbook. Here it is as the server sent it:';
const PROBLEM = '> ⚠ Check filechat.results.fields for tableau.get_view_as_pdf.';

describe('docs/results.md', () => {
  for (const as of ['structured', 'json']) {
    it(`its transformer gets the whole PDF as base64 and returns it: ${as}`, async () => {
      settings = { transform: await fromPage() };
      const { shown, saved } = await call('download_workbook', { as });
      assert.equal(`${shown}\n`, files.get('transformer.md'));
      assert.deepEqual(saved, [PDF]);
    });
  }

  it('its transformer leaves the results of other tools alone', async () => {
    const [tool, expected] = ['list_workbooks', /"project": "Analytics"/];
    settings = {};
    const plain = await call(tool);
    settings = { transform: await fromPage() };
    assert.deepEqual(await call(tool), plain);
    assert.match(plain.shown, expected);
  });

  it('its fields give the file and the summary', async () => {
    const fields = JSON.parse(files.get('fields.json') ?? '');
    settings = { fields: (tool) => readFieldRules(fields, tool) };
    const { shown, saved } = await call('download_workbook', { as: 'json' });
    assert.equal(`${shown}\n`, files.get('fields.md'));
    assert.deepEqual(saved, [PDF]);
    const view = await call('get_view_as_pdf');
    assert.match(view.shown, /"pdf_data": "\(application\/pdf, 400000 bytes, saved as file 1\)"/);
  });
});

describe('a transformer of a real result', () => {
  const SHOWN: Readonly<Record<string, string>> = {
    structured: LINK.replace('1]', '1: Sales Dashboard]'),
    json: LINK.replace('1]', '1: Sales Dashboard]'),
    base64: LINK,
    blob: LINK.replace('1]', '1: Sales.pdf]'),
  };
  for (const [as, link] of Object.entries(SHOWN)) {
    it(`that leaves the PDF out, or fails, loses nothing: ${as}`, async () => {
      settings = { transform: () => ({ summary: 'Downloaded' }) };
      const left = await call('download_workbook', { as });
      const summary = '```json\n{\n  "summary": "Downloaded"\n}\n```';
      assert.equal(left.shown, `${summary}\n\n${LEFT_OUT}\n\n${link}`);
      assert.deepEqual(left.saved, [PDF]);

      settings = {};
      const plain = await call('download_workbook', { as });
      const cycle: unknown[] = [];
      cycle.push(cycle);
      settings = { transform: () => cycle };
      const failed = await call('download_workbook', { as });
      const [line, ...rest] = failed.shown.split('\n\n');
      assert.match(
        line ?? '',
        /^> ⚠ Your transformer failed on tableau\.download_workbook: the result contains itself\./,
      );
      assert.equal(rest.join('\n\n'), plain.shown);
      assert.deepEqual(failed.saved, [PDF]);
    });
  }
});

it('a path that is not supported and a name that is unknown are reported in the chat', async () => {
  settings = {
    fields: () => [{ path: '$..pdf_data' }, { path: 'pdf_data', summary: 'View {view_name}, page {page}' }],
  };
  const { shown, saved } = await call('get_view_as_pdf');
  assert.match(shown, /"pdf_data": "View Revenue by Region, page \{page\}"/);
  assert.ok(shown.includes(`${PROBLEM} The path “\\$..pdf_data” is not supported.`), shown);
  assert.ok(shown.includes(`${PROBLEM} The summary names {page}, which is neither`), shown);
  assert.deepEqual(saved, [PDF]);
});

it('a summary that is too long is reported in the chat, which has the usual line', async () => {
  settings = { fields: () => [{ path: 'pdf_data', summary: `${'A very long story. '.repeat(20)}{ref}` }] };
  const { shown, saved } = await call('get_view_as_pdf');
  assert.match(shown, /"pdf_data": "\[file .*application\/pdf, .*asset:.*\]"/);
  assert.ok(shown.includes(`${PROBLEM} The summary with its values has more than 60 tokens`), shown);
  assert.deepEqual(saved, [PDF]);
});
