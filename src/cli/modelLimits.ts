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
  let memory = `Filechat remembers this until the settings of the model change. To forget it, delete ${path}.`;
  const onFailure = (error: unknown) => {
    memory = `It is forgotten after this run, because ${path} could not be saved: ${messageOf(error)}.`;
  };
  return new ModelLimits({
    store: fileStore(path, onFailure),
    onLearned: (limit) => err(limit.isOnce ? describeOnce(limit) : `${describeLimit(limit)} ${memory}`),
    alwaysTriesImages: () => settings['results.sendImagesToModel'] === 'always',
  });
}

function fileStore(path: string, onFailure: (error: unknown) => void): LimitStore {
  let written: object | undefined;
  return {
    read: () => written ?? parseJson(readIfPossible(path)),
    write: async (value) => {
      written = value;
      await replaceFile(path, `${JSON.stringify(value, null, 2)}\n`).catch(onFailure);
    },
  };
}

/** Usually the file does not exist. A file that cannot be read is ignored. */
function readIfPossible(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function describeLimit({ model, feature, reason }: LearnedLimit): string {
  return `${model} ${CONSEQUENCES[feature]} (“${reason.replace(/[.\s]+$/, '')}”).`;
}

function describeOnce({ model, reason }: LearnedLimit): string {
  return `The provider of ${model} refused an image, so the request was sent again with a one-line description of each image that was left out (“${reason.replace(/[.\s]+$/, '')}”).`;
}

const CONSEQUENCES: Readonly<Record<RequestFeature, string>> = {
  images: 'does not accept images, so it gets a one-line description of each',
  documents: 'does not accept PDFs or audio, so it gets a one-line description of each',
  tools: 'does not accept tools, so the request was sent again without them',
  system: 'does not accept a system prompt, so it was put before the first message',
  temperature: 'does not accept a temperature, so the request was sent again without it',
  streaming: 'does not stream, so the whole reply was requested at once',
};
