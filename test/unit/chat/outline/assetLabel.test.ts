import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { parseChat } from '../../../../src/chat/format/parse.ts';
import { titleOfAsset } from '../../../../src/chat/outline/assetLabel.ts';
import { findAssetUses } from '../../../../src/chat/outline/references.ts';
import { eachCase } from '../eachCase.ts';

const FILE = 'tool-file-20261116-093012-V1StGXR8a0-1.pdf';
const IMAGE = 'tool-image-20261116-093012-V1StGXR8a0-02.png';
const tool = (body: string) => `# %% tool charts.bar c1\n${body}\n`;

function titleIn(chat: string, file: string, saved?: string): string | undefined {
  const title = titleOfAsset(file, findAssetUses(chat, parseChat(chat)), saved);
  if (title?.kind !== 'numbered') return title?.name;
  return `${title.of.kind} ${title.of.number} of ${title.tool}`;
}

describe('the title of an asset', () => {
  const cases: Record<
    string,
    [chat: string, file: string, saved: string | undefined, expected: string | undefined]
  > = {
    'is its number in the reply of a model that made it': [
      '# %% assistant\n![Model generated image 2](cmdassets/model-image-20261116-093012-V1StGXR8a0-2.png)\n',
      'model-image-20261116-093012-V1StGXR8a0-2.png',
      undefined,
      'image 2 of undefined',
    ],
    'is the name in its link': [
      tool(`[Tool generated file 1: quarterly.pdf](cmdassets/${FILE})`),
      FILE,
      undefined,
      'quarterly.pdf',
    ],
    'is without escapes': [
      tool(`[Tool generated file 1: my\\_report\\[1\\].pdf](cmdassets/${FILE})`),
      FILE,
      undefined,
      'my_report[1].pdf',
    ],
    'is what a client called it': [
      tool(`![Tool generated image 2](cmdassets/${IMAGE})`),
      IMAGE,
      'plan.png',
      'plan.png',
    ],
    'is the description of an image in another turn': [
      `${tool(`![Tool generated image 2](cmdassets/${IMAGE})`)}\n# %% assistant\n![The sales](cmdassets/${IMAGE})\n`,
      IMAGE,
      undefined,
      'The sales',
    ],
    'is not the text of a link to a file': [
      `${tool(`[Tool generated file 1](cmdassets/${FILE})`)}\n# %% assistant\n[here](cmdassets/${FILE})\n`,
      FILE,
      undefined,
      'file 1 of charts.bar',
    ],
    'is a label that is a file name': [
      `# %% user\n[report.pdf](cmdassets/${FILE})\n`,
      FILE,
      undefined,
      'report.pdf',
    ],
    'is its number, with its tool': [
      tool(`![Tool generated image 2](cmdassets/${IMAGE})`),
      IMAGE,
      undefined,
      'image 2 of charts.bar',
    ],
    'is the number in its file name': ['# %% user\n', IMAGE, undefined, 'image 2 of undefined'],
    'is unknown for other files': ['# %% user\n', 'notes.txt', undefined, undefined],
  };
  eachCase(cases, (chat, file, saved, expected) => assert.equal(titleIn(chat, file, saved), expected));
});
