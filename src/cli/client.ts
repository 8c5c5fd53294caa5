import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { messageOf } from '../base/errors.ts';
import { defined, parseJson } from '../base/json.ts';
import { readSettings } from '../chat/format/frontMatter.ts';
import { parseChat } from '../chat/format/parse.ts';
import { withEnvFile } from '../mcp/config/envFile.ts';
import { type ResolvedServer, resolveInputs } from '../mcp/config/inputs.ts';
import { readServers as readServerSettings, readServersFile } from '../mcp/config/readServers.ts';
import type { ServerConfig } from '../mcp/config/types.ts';
import { RemoteAuthorization } from '../mcp/oauth/authorization.ts';
import type { Authorize } from '../mcp/oauth/authorizations.ts';
import { LoopbackBrowser } from '../mcp/oauth/loopbackBrowser.ts';
import { McpClient } from '../mcpClient.ts';
import { envKey, keyVariables } from '../model/config/keys.ts';
import { type LearnedLimit, type LimitStore, ModelLimits } from '../model/config/knownLimits.ts';
import {
  type ModelConfig,
  readModels as readModelSettings,
  readModelsFile,
} from '../model/config/modelConfig.ts';
import { ModelFinder } from '../model/config/modelFinder.ts';
import type { ChatModel, RequestFeature } from '../ports/models.ts';
import type { ServerRequests } from '../ports/servers.ts';
import type { CliContext, Work } from './commandLine.ts';
import { replaceFile } from './fileDocument.ts';
import { renderOption } from './help.ts';
import { stateFolder } from './recovery.ts';
import { type CliSettings, limitsOf, readText, toolSettingsOf } from './settings.ts';
import { terminalRequests } from './terminal.ts';

interface ClientDeps {
  readonly command: Work;
  readonly settings: CliSettings;
  readonly context: CliContext;
}

/** The MCP client for one command. Credentials are kept in memory for as long as it runs. */
export function createMcpClient(servers: ReadonlyMap<string, ResolvedServer>, deps: ClientDeps): McpClient {
  const { settings, context } = deps;
  const credentials = new Map<string, string>();
  const store = {
    get: async (key: string) => credentials.get(key),
    set: async (key: string, value: string) => void credentials.set(key, value),
    delete: async (key: string) => void credentials.delete(key),
  };
  const open = (url: URL, server: string) =>
    context.err(`The server ${server} requires a sign-in. Open this address in a browser:\n${url.href}`);
  const clientMetadataUrl = settings['oauth.clientMetadataUrl'].trim() || undefined;
  const authorize: Authorize = async (config, server, onAsk) =>
    new RemoteAuthorization({
      server,
      serverUrl: config.url,
      store,
      browser: new LoopbackBrowser({ open }),
      settings: { ...defined({ clientMetadataUrl }), ...config.oauth },
      onAsk,
    });
  const options = {
    servers: async () => new Map([...servers].map(([name, { config }]) => [name, config])),
    resolve: async (name: string, config: ServerConfig) => servers.get(name) ?? { config, secrets: [] },
    log: { info: () => {}, warn: context.err, error: () => {} },
    timeoutMs: () => settings.timeoutSeconds * 1000,
    maxParallelCalls: () => settings.maxParallelCalls,
    limits: () => limitsOf(settings),
    settings: () => toolSettingsOf(settings),
    clientInfo: { name: 'filechat', version: context.version },
    requests: requestsFor(deps),
    advice: { timeoutSetting: renderOption('timeout'), restart: 'run again' },
    // Without a terminal the user cannot sign in.
    ...(context.ask ? { authorize } : {}),
  };
  return new McpClient(options);
}

function requestsFor({ command, settings, context }: ClientDeps): ServerRequests {
  if (!('chat' in command)) return {};
  const folders = new Set([dirname(resolve(command.chat)), ...(command.root ? [resolve(command.root)] : [])]);
  return terminalRequests({
    approve: command.kind === 'run' ? settings.approve : 'ask',
    roots: [...folders].map((folder) => ({ uri: pathToFileURL(folder).href, name: basename(folder) })),
    err: context.err,
    ask: context.ask,
    ...(command.kind === 'run' ? { modelFor: (chat) => modelFor(command, chat, { settings, context }) } : {}),
  });
}

async function modelFor(
  command: Extract<Work, { kind: 'run' }>,
  chat: string | undefined,
  { settings, context }: Pick<ClientDeps, 'settings' | 'context'>,
): Promise<ChatModel> {
  const finder = await createModelFinder(command.models, settings, context);
  const text = await readFile(chat ?? command.chat, 'utf8');
  return finder.find(command.model ?? readSettings(parseChat(text)).settings.model);
}

/** The servers of a file, or those of the settings. `${workspaceFolder}` is the folder of the file, or the parent of `.vscode/`. */
export async function readServers(
  path: string | undefined,
  settings: CliSettings,
  { err }: Pick<CliContext, 'err'>,
): Promise<ReadonlyMap<string, ResolvedServer>> {
  const folder = path === undefined ? settings.folder : dirname(resolve(path));
  const workspaceFolder = basename(folder) === '.vscode' ? dirname(folder) : folder;
  const expansion = { workspaceFolder, env: process.env };
  const { inputs: definitions, ...read } =
    path === undefined
      ? readServerSettings(settings.mcpServers, expansion)
      : readServersFile(await readNamed(path, '--servers'), expansion);
  for (const problem of read.problems) err(problem);
  const servers = new Map<string, ResolvedServer>();
  for (const [name, config] of read.servers) {
    try {
      const whole = await withEnvFile(
        config,
        (file) => readFile(resolve(workspaceFolder, file), 'utf8'),
        err,
      );
      servers.set(name, await resolveInputs(whole, inputFromEnvironment, { definitions }));
    } catch (error) {
      err(`MCP server ${JSON.stringify(name)} is ignored: ${messageOf(error)}`);
    }
  }
  if (path !== undefined && servers.size === 0)
    throw new Error(`${path} has no valid server. Fix its entries, or name another file with --servers.`);
  return servers;
}

async function readNamed(path: string, option: string): Promise<string> {
  return readText(path).catch((error: unknown) => {
    throw new Error(`Could not read ${path} (${option}): ${messageOf(error)}`);
  });
}

/** The command line has no secret store: the input api-key is the variable FILECHAT_INPUT_API_KEY. */
async function inputFromEnvironment(id: string): Promise<string> {
  const variable = `FILECHAT_INPUT_${toVariable(id)}`;
  const value = process.env[variable];
  if (value === undefined)
    throw new Error(`it needs the input “${id}”. Set the environment variable ${variable}.`);
  return value;
}

export function toVariable(name: string): string {
  return name.toUpperCase().replace(/[^A-Z0-9]/g, '_');
}

/** The models of a file, or those of the settings, with keys from the environment. */
export async function createModelFinder(
  path: string | undefined,
  settings: CliSettings,
  { err }: Pick<CliContext, 'err'>,
): Promise<ModelFinder> {
  const models = path === undefined ? readModelSettings(settings.models).models : await readModels(path, err);
  return new ModelFinder({
    models: () => models,
    defaultModel: () => settings.defaultModel.trim() || undefined,
    keyFor: async (config) => envKey(config, process.env),
    nameHint:
      'Name one with --model NAME, with “model: NAME” at the top of the chat, or as defaultModel in --settings, such as anthropic/MODEL or ollama/MODEL.',
    limits: createModelLimits(settings, { err }),
    keyHint,
  });
}

function keyHint(config: ModelConfig): string {
  const { own, usual } = keyVariables(config);
  return usual === undefined
    ? `Set the environment variable ${own}.`
    : `Set the environment variable ${usual}, or ${own} for this model only.`;
}

async function readModels(path: string, err: CliContext['err']): Promise<ReadonlyMap<string, ModelConfig>> {
  const { models, problems } = readModelsFile(await readNamed(path, '--models'));
  for (const problem of problems) err(problem);
  if (models.size === 0)
    throw new Error(`${path} has no valid model. Fix its entries, or name another file with --models.`);
  return models;
}

/** What models refuse, remembered in a file of the user's state folder. */
function createModelLimits(settings: CliSettings, { err }: Pick<CliContext, 'err'>): ModelLimits {
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
