import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { processMixedToolResult } from '../../../src/mcpClient.ts';
import { readToolResult, renderToolResult } from '../../../src/result/markdown.ts';
import { toModelParts } from '../../../src/result/modelView.ts';
import { describeUnsaved, findUnsaved, linkSaved, unsavedTitle } from '../../../src/result/unsaved.ts';
import { applyEdit } from '../../kit/applyEdit.ts';
import { MemoryAssets } from './memoryAssets.ts';

const NAME = 'tool-file-20261117-101010-V1StGXR8a0-2.txt';
const line = (copy: string | undefined, what = 'file 2') =>
  renderToolResult({
    isError: false,
    parts: [{ kind: 'problem', message: describeUnsaved(what, 'the disk is full.', copy) }],
  });

describe('a file that could not be saved', () => {
  const cases: Readonly<Record<string, [chat: string, found: readonly string[]]>> = {
    'is found by its copy': [line(`/home/me/.local/state/${NAME}`), [`file 2 ${NAME}`]],
    'also on Windows': [line(`C:\\Users\\me\\~x$\\[a]\\${NAME}`), [`file 2 ${NAME}`]],
    'also with other line ends': [`a\r\n${line(`/r/${NAME}`)}\r\nb`, [`file 2 ${NAME}`]],
    twice: [`${line(`/r/${NAME}`)}\n\n${line(`/r/${NAME}`)}`, [`file 2 ${NAME}`, `file 2 ${NAME}`]],
    'not without a copy': [line(undefined), []],
    'not by a name that is not an asset': [line('/r/id_rsa'), []],
    'not by a name that leads elsewhere': [line(`/r/${NAME}/../../x.txt`), []],
    'not in code, such as a preview': [
      `# %% tool a.b c1\n\`\`\`text preview\n${line(`/r/${NAME}`)}\n\`\`\`\n\n${line('/r/tool-file-20261117-101010-V1StGXR8a0-1.txt', 'file 1')}`,
      ['file 1 tool-file-20261117-101010-V1StGXR8a0-1.txt'],
    ],
    'not in a sentence': [`He said: ${line(`/r/${NAME}`)}`, []],
  };
  for (const [rule, [chat, expected]] of Object.entries(cases)) {
    it(rule, () => {
      const found = findUnsaved(chat).map(({ kind, number, name }) => `${kind} ${number} ${name}`);
      assert.deepEqual(found, expected);
    });
  }

  it('gets its link in place, and the preview belongs to it', () => {
    const chat = `# %% tool a.b c1\r\n${line(`/r/${NAME}`)}\r\n\r\n\`\`\`text preview\r\nhead\r\n\`\`\`\r\n`;
    const edit = linkSaved(chat, NAME, `cmdassets/${NAME}`);
    assert.equal(
      edit && applyEdit(chat, edit),
      `# %% tool a.b c1\r\n[Tool generated file 2](cmdassets/${NAME})\r\n\r\n\`\`\`text preview\r\nhead\r\n\`\`\`\r\n`,
    );
    assert.equal(linkSaved('nothing', NAME, 'x'), undefined);
  });

  for (const label of ['Quarterly report.pdf', 'a (b) * ~c~ $d.pdf', 'x) to cmdassets']) {
    it(`keeps its name in the link: ${label}`, () => {
      const chat = line(`/r/${NAME}`, unsavedTitle({ kind: 'file', number: 2, label }));
      const edit = linkSaved(chat, NAME, `cmdassets/${NAME}`);
      assert.equal(edit && applyEdit(chat, edit), `[Tool generated file 2: ${label}](cmdassets/${NAME})`);
    });
  }

  it('leaves the preview of a long text, for the user and for the model', async () => {
    const text = `first\n${'words '.repeat(3000)}\nlast`;
    const result = await processMixedToolResult(
      { content: [{ type: 'text', text }] },
      new MemoryAssets('file'),
    );
    const shown = renderToolResult(result);
    assert.match(
      shown,
      /^> ⚠ Could not save the file: the disk is full\.\n\n```text preview\nfirst\n[\s\S]*\nlast\n```$/,
    );
    assert.deepEqual(readToolResult(shown), result);
    const [problem, preview] = toModelParts(result, { about: () => undefined });
    assert.deepEqual(problem, { kind: 'text', text: '⚠ Could not save the file: the disk is full.' });
    assert.match(preview?.kind === 'text' ? preview.text : '', /^first[\s\S]*last$/);
  });
});
