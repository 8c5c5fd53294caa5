import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '../base/errors.ts';
import { parseJson } from '../base/json.ts';
import { type LearnedLimit, type LimitStore, ModelLimits } from '../model/config/limits.ts';
import type { RequestFeature } from '../ports/models.ts';
import { replaceFile } from './fileDocument.ts';
import { stateFolder } from './recovery.ts';
import type { CliSettings } from './settings.ts';
import type { CliContext } from './usage.ts';

/** What models refuse, remembered in a file of the user's state folder. */
export function createModelLimits(settings: CliSettings, { err }: Pick<CliContext, 'err'>): ModelLimits {
  const path = join(stateFolder(), 'model-limits.json');
  return new ModelLimits({
    store: fileStore(path, err),
    onLearned: (limit) => err(describeLimit(limit, path)),
    alwaysTriesImages: () => settings['results.sendImagesToModel'] === 'always',
  });
}

function fileStore(path: string, err: CliContext['err']): LimitStore {
  let written: object | undefined;
  return {
    read: () => written ?? parseJson(readIfPossible(path)),
    write: async (value) => {
      written = value;
      await replaceFile(path, `${JSON.stringify(value, null, 2)}\n`).catch((error: unknown) =>
        err(
          `Could not save ${path}: ${messageOf(error)}. What the model refuses is forgotten after this run.`,
        ),
      );
    },
  };
}

/** Usually there is no such file. One that cannot be read is the same as none. */
function readIfPossible(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function describeLimit({ model, feature, reason }: LearnedLimit, path: string): string {
  const said = reason.replace(/[.\s]+$/, '');
  return `${model} ${REFUSALS[feature]} (“${said}”). Filechat remembers this until the settings of the model change. To forget it, delete ${path}.`;
}

const REFUSALS: Readonly<Record<RequestFeature, string>> = {
  images: 'does not accept images, so it gets a one-line description of each',
  tools: 'does not accept tools, so the request was sent again without them',
  system: 'does not accept a system prompt, so it was put before the first message',
  temperature: 'does not accept a temperature, so the request was sent again without it',
  streaming: 'does not stream, so the whole reply was requested at once',
};
