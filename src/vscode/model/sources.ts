import type * as vscode from 'vscode';
import { unlessAborted } from '../../base/async.ts';
import { envKey } from '../../model/config/keys.ts';
import { listLocalModels } from '../../model/config/listModels.ts';
import type { ModelConfig } from '../../model/config/modelConfig.ts';
import {
  type LocalServer,
  localServers,
  PRESETS,
  type Preset,
  presetEndpoint,
} from '../../model/config/presets.ts';
import type { ListedModel } from '../../model/config/readListing.ts';
import { listEditorModels } from './editorModel.ts';
import type { Keys } from './keys.ts';

export interface PresetState {
  readonly preset: Preset;
  readonly endpoint: ReturnType<typeof presetEndpoint>;
  /** Where the key comes from, if there is one. */
  readonly key?: 'stored' | 'environment';
}

interface LocalModels {
  readonly server: LocalServer;
  readonly models: readonly ListedModel[];
}

/** What the first page offers. The searches begin when the picker opens, and end with it. */
export interface ModelSources {
  readonly editor: Promise<readonly vscode.LanguageModelChat[]>;
  readonly local: readonly Promise<LocalModels>[];
  readonly configured: readonly ModelConfig[];
  readonly presets: Promise<readonly PresetState[]>;
}

export function findSources(
  configured: ReadonlyMap<string, ModelConfig>,
  keys: Keys,
  signal: AbortSignal,
): ModelSources {
  return {
    editor: listEditorModels(),
    local: localServers(process.env).map(async (server) => ({
      server,
      models: await listLocalModels(server, { signal }),
    })),
    configured: [...configured.values()],
    presets: Promise.all(PRESETS.map((preset) => presetState(preset, keys))),
  };
}

async function presetState(preset: Preset, keys: Keys): Promise<PresetState> {
  const endpoint = presetEndpoint(preset, process.env);
  if ((await keys.get(endpoint)) !== undefined) return { preset, endpoint, key: 'stored' };
  // A key of the environment is only sent to the provider's own address.
  const isOwn = endpoint.baseUrl === undefined;
  const hasKey = isOwn && envKey({ name: preset.id, ...endpoint, model: '' }, process.env) !== undefined;
  return { preset, endpoint, ...(hasKey ? { key: 'environment' } : {}) };
}

/** How long a run waits for what could be the only choice, before it asks. */
const LOOK_MS = 2_000;

/** The models of the only program that is there, if nothing else could answer without a question. */
export async function onlyLocalModels(sources: ModelSources): Promise<LocalModels | undefined> {
  if (sources.configured.length > 0) return undefined;
  const all = Promise.all([sources.editor, Promise.all(sources.local), sources.presets]);
  try {
    const [editor, local, presets] = await unlessAborted(all, AbortSignal.timeout(LOOK_MS));
    const [found, ...others] = local.filter(({ models }) => models.length > 0);
    const isOnly = others.length === 0 && editor.length === 0 && presets.every(({ key }) => !key);
    return isOnly ? found : undefined;
  } catch {
    // Too slow, or VS Code's models cannot be listed: the picker shows what there is.
    return undefined;
  }
}
