import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assetsLinkedIn, relinkAssets } from '../../../../src/chat/edits/relink.ts';
import { editedText } from '../../../../src/chat/format/textEdit.ts';

const FOLDER = '/home/me/Application Support/filechat/cmdassets';
const ENCODED = FOLDER.replace(' ', '%20');
const NAME = 'tool-image-20261116-093012-V1StGXR8a0-1.png';
const OTHER = 'tool-file-20261116-093012-V1StGXR8a0-01.pdf';

function relink(text: string, moved: readonly string[] = [NAME, OTHER], folder = FOLDER): string {
  const edits = relinkAssets(text, folder, new Set(moved));
  return edits.toReversed().reduce(editedText, text);
}

describe('a link into the folder leads beside the chat', () => {
  const cases: readonly (readonly [what: string, text: string, expected: string])[] = [
    ['an image', `![Image 1](${ENCODED}/${NAME})`, `![Image 1](cmdassets/${NAME})`],
    ['a link', `[File 1: a.pdf](${ENCODED}/${OTHER})`, `[File 1: a.pdf](cmdassets/${OTHER})`],
    ['in angle brackets', `![a](<${FOLDER}/${NAME}> "title")`, `![a](cmdassets/${NAME} "title")`],
    ['a file URI', `![a]( file://${ENCODED}/${NAME})`, `![a]( cmdassets/${NAME})`],
    ['a definition', `![a][b]\n\n[b]: ${ENCODED}/${NAME}\n`, `![a][b]\n\n[b]: cmdassets/${NAME}\n`],
    ['with a fragment', `[a](${ENCODED}/${OTHER}#page=2)`, `[a](cmdassets/${OTHER}#page=2)`],
    ['in a comment', `<!-- ![a](${ENCODED}/${NAME}) -->`, `<!-- ![a](cmdassets/${NAME}) -->`],
    ['in a quote', `> ![a](${ENCODED}/${NAME})`, `> ![a](cmdassets/${NAME})`],
    ['an image in a link', `[![a](${ENCODED}/${NAME})](x)`, `[![a](cmdassets/${NAME})](x)`],
    ['over dots', `![a](${ENCODED}/../cmdassets/${NAME})`, `![a](cmdassets/${NAME})`],
    [
      'in every turn, with CRLF',
      `# %% user\r\n![a](${ENCODED}/${NAME})\r\n# %% tool a.b c1\r\n![b](${ENCODED}/${NAME})\r\n`,
      `# %% user\r\n![a](cmdassets/${NAME})\r\n# %% tool a.b c1\r\n![b](cmdassets/${NAME})\r\n`,
    ],
  ];
  for (const [what, text, expected] of cases) it(what, () => assert.equal(relink(text), expected));

  it('on a Windows drive', () => {
    const folder = '/c:/Users/me/filechat/cmdassets';
    for (const target of [
      `/c:/Users/me/filechat/cmdassets/${NAME}`,
      `file:///c:/Users/me/filechat/cmdassets/${NAME}`,
    ])
      assert.equal(relink(`![a](${target})`, [NAME], folder), `![a](cmdassets/${NAME})`);
  });
});

describe('nothing else changes', () => {
  const cases: readonly (readonly [what: string, text: string])[] = [
    ['a link of the chat itself', `![a](cmdassets/${NAME})`],
    ['another folder', `![a](/home/you/cmdassets/${NAME})`],
    ['a folder that begins alike', `![a](${ENCODED}-2/${NAME})`],
    ['a folder in it', `![a](${ENCODED}/more/${NAME})`],
    ['a way out of it', `![a](${ENCODED}/../${NAME})`],
    ['a file that is not an asset', `![a](${ENCODED}/holiday.png)`],
    ['the same path on the web', `![a](https://example.com${ENCODED}/${NAME})`],
    ['code', `\`![a](${ENCODED}/${NAME})\``],
    ['a fence', `\`\`\`\n![a](${ENCODED}/${NAME})\n\`\`\`\n`],
    ['a call', `\`\`\`tool_call a.b c1\n{"x": "[a](${ENCODED}/${NAME})"}\n\`\`\`\n`],
    ['a fence without an end', `# %% user\n\`\`\`\n# %% user\n![a](${ENCODED}/${NAME})\n`],
    ['prose', `It is in ${FOLDER}/${NAME}.`],
    ['a link without a target', '[a]() and [b]( and ]('],
  ];
  for (const [what, text] of cases) it(what, () => assert.equal(relink(text), text));

  it('an asset that was not moved', () => {
    const text = `![a](${ENCODED}/${NAME}) [b](${ENCODED}/${OTHER})`;
    assert.deepEqual(assetsLinkedIn(`${text} ${text}`, FOLDER), [NAME, OTHER]);
    assert.equal(relink(text, [OTHER]), `![a](${ENCODED}/${NAME}) [b](cmdassets/${OTHER})`);
  });
});

it('a long chat full of brackets is searched in linear time', () => {
  const text = '[a](b]('.repeat(100_000);
  assert.deepEqual(assetsLinkedIn(text, FOLDER), []);
});

it('of targets without an end only the beginning is read', () => {
  assert.deepEqual(assetsLinkedIn(']:a'.repeat(500_000), FOLDER), []);
});
