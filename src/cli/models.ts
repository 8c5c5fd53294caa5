import { readFile } from 'node:fs/promises';
import { ModelFinder } from '../model/config/find.ts';
import { envKey } from '../model/config/keys.ts';
import { findLocalModels } from '../model/config/local.ts';
import { type ModelConfig, readModelsFile } from '../model/config/models.ts';
import type { Output } from './commands.ts';

/** The models of a file, with keys from the environment. */
export async function createModelFinder(path: string | undefined, { err }: Output): Promise<ModelFinder> {
  const models = path === undefined ? NONE : await readModels(path, err);
  return new ModelFinder({
    models: () => models,
    defaultModel: () => undefined,
    keyFor: async (config) => envKey(config, process.env),
    keyHint: ({ name }) =>
      `Set FILECHAT_KEY_${name.toUpperCase().replace(/[^A-Z0-9]/g, '_')} in the environment.`,
    local: () => findLocalModels({ fetch, signal: AbortSignal.timeout(LOCAL_MS) }),
  });
}

const NONE: ReadonlyMap<string, ModelConfig> = new Map();
const LOCAL_MS = 2000;

async function readModels(path: string, err: Output['err']): Promise<ReadonlyMap<string, ModelConfig>> {
  const { models, problems } = readModelsFile(await readFile(path, 'utf8'));
  for (const problem of problems) err(problem);
  if (models.size === 0) throw new Error(`No model in ${path} can be used.`);
  return models;
}
