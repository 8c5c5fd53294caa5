import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { transformIn } from '../../../../src/mcp/transformer/run.ts';
import { applyTransform } from '../../../../src/result/transform.ts';
import { temporaryFolder } from '../../../kit/folder.ts';
import { FileSpills } from '../../result/fileSpills.ts';

const folder = temporaryFolder({ after });
const tool = { server: 'a', tool: 'b' };
const TEXT = { type: 'text', text: 'as it was' };
let modules = 0;

async function transform(
  code: string,
  options: { result?: object; spills?: FileSpills; timeoutMs?: number } = {},
) {
  modules += 1;
  const path = join(folder, `${modules}.mjs`);
  if (code !== '') writeFileSync(path, code);
  const { result = { content: [TEXT] }, spills, timeoutMs = 60_000 } = options;
  const normalize = async (value: unknown) => ({ content: [{ type: 'normalized', value }] });
  const read = async () => Buffer.from('the bytes');
  const run = transformIn(path);
  return applyTransform(result, { run }, { tool, spills, read, normalize, timeoutMs });
}

describe('a transformer in its worker', () => {
  it('gets a copy of the result and the names, and returns blocks and other values', async () => {
    const code = `export default async (result, { server, tool }) => {
      result.content.push({ type: 'text', text: server + tool }, new Date(0));
      return result;
    };`;
    const { result, changed } = await transform(code);
    assert.equal(changed, true);
    const date = { type: 'normalized', value: '1970-01-01T00:00:00.000Z' };
    assert.deepEqual(result, { content: [TEXT, { type: 'text', text: 'ab' }, date] });
  });

  it('reads a string that is too long to be given', async () => {
    const spills = new FileSpills(folder);
    const blob = await spills.put(Buffer.from('the bytes'), {});
    const code = `export default async ({ content: [{ blob }] }) =>
      [blob.size, Buffer.from(await blob.read()).toString(), blob].join(' ');`;
    const { result } = await transform(code, { result: { content: [{ blob }] }, spills });
    assert.deepEqual(result, { content: [{ type: 'normalized', value: `9 the bytes ${blob}` }] });
  });

  const failures: Readonly<Record<string, [code: string, reason: RegExp, timeoutMs?: number]>> = {
    'an endless loop is ended': [
      'export default () => { for (;;); };',
      /it took longer than 1 seconds/,
      1000,
    ],
    'so is a module that does not finish loading': ['for (;;);', /it took longer than 1 seconds/, 1000],
    'so is a promise without an end': [
      'export default () => new Promise(() => {});',
      /it took longer than 1 seconds/,
      1000,
    ],
    'an error that nobody catches': [
      `export default () => new Promise(() => { setImmediate(() => { throw new Error('later'); }); });`,
      /: later\. The result/,
    ],
    'the end of the process': [
      'export default () => new Promise(() => { process.exit(0); });',
      /: it exited the process\. The result/,
    ],
    'an object that contains itself': [
      'export default () => { const a = {}; a.a = a; return a; };',
      /: the result contains itself\. The result/,
    ],
    'a module that is missing': ['', /: Cannot find module '[^']*'\. The result/],
    'a module without a function': ['export const a = 1;', /: its default export is not a function\. The/],
  };
  for (const [rule, [code, reason, timeoutMs]] of Object.entries(failures)) {
    it(`${rule}, and the result is the one that the server sent`, async () => {
      const { result, changed, problem } = await transform(
        code,
        timeoutMs === undefined ? {} : { timeoutMs },
      );
      assert.match(problem ?? '', reason);
      assert.deepEqual([result, changed], [{ content: [TEXT] }, false]);
    });
  }
});
