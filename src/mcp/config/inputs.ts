import { defined, field } from '../../base/json.ts';
import { isOrdinary, secretsIn } from './secrets.ts';
import { checkConfig, checkNoNul, mapTexts, type ServerConfig } from './types.ts';

export type InputDefinition =
  | {
      readonly kind: 'text';
      readonly description?: string;
      readonly password: boolean;
      readonly default?: string;
    }
  | { readonly kind: 'choice'; readonly description?: string; readonly options: readonly InputOption[] };

export interface InputOption {
  readonly label: string;
  readonly value: string;
}

/** A configuration without variables, ready to start. */
export interface ResolvedServer {
  readonly config: ServerConfig;
  /** Values to mask in messages and logs: inputs and environment variables that are secrets. */
  readonly secrets: readonly string[];
}

const INPUT = /\$\{input:([^}]+)\}/g;

export interface InputContext {
  readonly definitions?: ReadonlyMap<string, InputDefinition> | undefined;
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

/** The distinct ids of the inputs in a configuration. */
export function inputsOf(config: ServerConfig): readonly string[] {
  const ids = new Set<string>();
  mapTexts(config, (text) => {
    for (const [, id] of text.matchAll(INPUT)) ids.add(id ?? '');
    return text;
  });
  return [...ids];
}

/**
 * Fills in the inputs, then adds the variables of the env file, which are taken literally; `env` wins. Rejects when an
 * input is missing or invalid in its place.
 */
export async function resolveInputs(
  config: ServerConfig,
  ask: (id: string) => Promise<string | undefined>,
  { definitions, environment = process.env }: InputContext = {},
): Promise<ResolvedServer> {
  const values = new Map<string, string>();
  for (const id of inputsOf(config)) {
    const value = await ask(id);
    if (value === undefined) {
      throw new Error(`The input ${JSON.stringify(id)} was not entered. Start the server again to enter it.`);
    }
    values.set(id, value);
  }
  const variables = (config.fromEnvironment ?? []).map((name) => [name, environment[name] ?? ''] as const);
  const secrets = [
    ...[...values].flatMap(([id, value]) => inputSecrets(id, value, definitions?.get(id))),
    ...variables.flatMap(secretsIn),
  ];
  return { config: joinFileVariables(values.size === 0 ? config : fillIn(config, values)), secrets };
}

/** An input without a definition may be a secret. */
function inputSecrets(id: string, value: string, definition?: InputDefinition): readonly string[] {
  if (definition === undefined) return isOrdinary(value) ? [] : [value];
  return definition.kind === 'text' && definition.password ? [value] : secretsIn([id, value]);
}

function fillIn(config: ServerConfig, values: ReadonlyMap<string, string>): ServerConfig {
  const fill = (text: string, field: string) => {
    const filled = text.replace(INPUT, (whole, id: string) => values.get(id) ?? whole);
    checkNoNul(filled, field);
    return filled;
  };
  try {
    const filled = mapTexts(config, fill);
    checkConfig(filled);
    return filled;
  } catch (error) {
    throw new Error(`An input is not valid in the configuration of the server: ${(error as Error).message}.`);
  }
}

function joinFileVariables(config: ServerConfig): ServerConfig {
  if (config.kind !== 'stdio' || config.fileVariables === undefined) return config;
  const { fileVariables, ...own } = config;
  return { ...own, env: { ...fileVariables, ...own.env } };
}

/** Reads the `inputs` of an `mcp.json`. Inputs without a definition are asked for as secrets. */
export function readInputs(json: unknown): {
  readonly inputs: ReadonlyMap<string, InputDefinition>;
  readonly problems: readonly string[];
} {
  const inputs = new Map<string, InputDefinition>();
  const problems: string[] = [];
  if (json === undefined || json === null) return { inputs, problems };
  if (!Array.isArray(json)) return { inputs, problems: ['The "inputs" must be a list.'] };
  for (const [at, item] of json.entries()) {
    const id = textOf(item, 'id');
    try {
      if (id === undefined || id === '') throw new Error('it has no "id"');
      inputs.set(id, readInput(item));
    } catch (error) {
      const name = id ? JSON.stringify(id) : `number ${at + 1}`;
      problems.push(`Input ${name} is asked for as a plain secret: ${(error as Error).message}.`);
    }
  }
  return { inputs, problems };
}

function readInput(item: unknown): InputDefinition {
  const about = defined({ description: textOf(item, 'description') });
  switch (field(item, 'type')) {
    case 'promptString': {
      const password = field(item, 'password') === true;
      return { kind: 'text', ...about, password, ...defined({ default: textOf(item, 'default') }) };
    }
    case 'pickString':
      return { kind: 'choice', ...about, options: readOptions(field(item, 'options')) };
    case 'command':
      throw new Error('its type is "command", but a configuration cannot run editor commands');
    default:
      throw new Error('its "type" must be "promptString" or "pickString"');
  }
}

function readOptions(json: unknown): readonly InputOption[] {
  const items: readonly unknown[] = Array.isArray(json) ? json : [];
  const options = items.flatMap((item) => {
    const value = typeof item === 'string' ? item : textOf(item, 'value');
    return value === undefined ? [] : [{ label: textOf(item, 'label') ?? value, value }];
  });
  if (options.length === 0) throw new Error('its "options" must be a list of strings');
  return options;
}

function textOf(item: unknown, name: string): string | undefined {
  const value = field(item, name);
  return typeof value === 'string' ? value : undefined;
}
