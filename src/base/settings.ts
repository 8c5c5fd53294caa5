import { isObject } from './json.ts';

/** The subset of JSON Schema that package.json uses for settings. An array contains strings. */
interface Rule {
  readonly type: 'boolean' | 'string' | 'number' | 'integer' | 'array' | 'object';
  readonly default: unknown;
  readonly minimum?: number;
  readonly enum?: readonly string[];
}

/** The user's settings without the prefix `filechat.`, with the defaults and ranges of package.json. */
export const SETTINGS = {
  mcpServers: { type: 'object', default: {} },
  timeoutSeconds: { type: 'number', default: 60, minimum: 1 },
  maxParallelCalls: { type: 'integer', default: 4, minimum: 1 },
  'results.maxInlineChars': { type: 'integer', default: 10_000, minimum: 1 },
  'results.maxAssetBytes': { type: 'integer', default: 50 * 1024 * 1024, minimum: 1 },
  'results.allowedMimeTypes': { type: 'array', default: ['*/*'] },
  'results.fields': { type: 'object', default: {} },
  'results.transformer': { type: 'string', default: '' },
  'results.sendImagesToModel': { type: 'string', default: 'auto', enum: ['auto', 'always', 'never'] },
  approve: { type: 'string', default: 'ask', enum: ['ask', 'auto-readonly', 'auto'] },
  models: { type: 'object', default: {} },
  defaultModel: { type: 'string', default: '' },
  maxSteps: { type: 'integer', default: 25, minimum: 1 },
  reviewResults: { type: 'boolean', default: false },
  autoSave: { type: 'boolean', default: true },
  nameChats: { type: 'boolean', default: true },
  disabledTools: { type: 'array', default: [] },
  editorTools: { type: 'array', default: [] },
  editorServers: { type: 'boolean', default: false },
  builtInTools: { type: 'boolean', default: true },
  apps: { type: 'boolean', default: true },
  auditLog: { type: 'boolean', default: false },
  'oauth.clientMetadataUrl': { type: 'string', default: '' },
} as const satisfies Readonly<Record<string, Rule>>;

export type SettingName = keyof typeof SETTINGS;

/** Objects are read by the part that uses them. */
type ValueOf<R extends Rule> = R extends { readonly enum: readonly (infer Choice)[] }
  ? Choice
  : {
      readonly boolean: boolean;
      readonly string: string;
      readonly number: number;
      readonly integer: number;
      readonly array: readonly string[];
      readonly object: unknown;
    }[R['type']];

export type SettingValue<N extends SettingName> = ValueOf<(typeof SETTINGS)[N]>;
export type SettingValues = { readonly [N in SettingName]: SettingValue<N> };

/** The value of a setting, or the nearest valid one: settings are written by hand. */
export function readSetting<N extends SettingName>(name: N, value: unknown): SettingValue<N> {
  return nearest(SETTINGS[name], value) as SettingValue<N>;
}

export function settingValues(values: Readonly<Record<string, unknown>>): SettingValues {
  const entries = settingNames().map((name) => [name, readSetting(name, values[name])]);
  return Object.fromEntries(entries) as SettingValues;
}

/** What a valid value is, if this one is not: it completes “NAME must be …”. */
export function settingProblem(name: SettingName, value: unknown): string | undefined {
  const rule: Rule = SETTINGS[name];
  return isValid(rule, value) ? undefined : describeRule(rule);
}

const PREFIX = 'filechat.';

/**
 * The settings in a JSON object, by their names without the prefix. Names may have it, and may be nested:
 * `{ "results": { "maxInlineChars": … } }`. Unknown names and invalid values become problems.
 */
export function readSettingsObject(json: unknown): {
  readonly values: Readonly<Record<string, unknown>>;
  readonly problems: readonly string[];
} {
  const values = new Map<string, unknown>();
  const unknown: string[] = [];
  const problems: string[] = [];
  if (!isObject(json)) {
    return { values: {}, problems: ['The settings must be an object: { "maxSteps": 10, … }.'] };
  }
  for (const [written, value] of flatten(json)) {
    const name = written.startsWith(PREFIX) ? written.slice(PREFIX.length) : written;
    if (!isSettingName(name)) {
      unknown.push(`“${written}”`);
      continue;
    }
    const expected = settingProblem(name, value);
    if (expected !== undefined) problems.push(`The setting “${written}” must be ${expected}.`);
    if (values.has(name)) problems.push(`The setting “${written}” is set twice. Remove one of them.`);
    values.set(name, value);
  }
  if (unknown.length > 0) {
    const names = settingNames().join(', ');
    problems.push(
      `Unknown ${unknown.length === 1 ? 'setting' : 'settings'} ${unknown.join(', ')}. The settings are ${names}.`,
    );
  }
  return { values: Object.fromEntries(values), problems };
}

/** Joins the names of nested groups, such as `filechat` and `results`, with dots. */
function flatten(json: object, prefix = ''): readonly (readonly [name: string, value: unknown])[] {
  return Object.entries(json).flatMap(([key, value]) => {
    const name = prefix + key;
    return isGroup(name) && isObject(value) ? flatten(value, `${name}.`) : [[name, value] as const];
  });
}

function isGroup(name: string): boolean {
  return settingNames().some(
    (each) => `${PREFIX}${each}`.startsWith(`${name}.`) || each.startsWith(`${name}.`),
  );
}

function isSettingName(name: string): name is SettingName {
  return Object.hasOwn(SETTINGS, name);
}

function settingNames(): readonly SettingName[] {
  return Object.keys(SETTINGS) as SettingName[];
}

function isValid(rule: Rule, value: unknown): boolean {
  switch (rule.type) {
    case 'array':
      return Array.isArray(value) && value.every((each) => typeof each === 'string');
    case 'object':
      return isObject(value);
    case 'integer':
    case 'number':
      return nearest(rule, value) === value;
    case 'string':
      return typeof value === 'string' && (rule.enum?.includes(value) ?? true);
    case 'boolean':
      return typeof value === 'boolean';
  }
}

function nearest(rule: Rule, value: unknown): unknown {
  const { type, minimum = Number.NEGATIVE_INFINITY } = rule;
  if (type === 'array' && Array.isArray(value)) return value.filter((each) => typeof each === 'string');
  // The part that reads the object reports what is wrong with it.
  if (type === 'object') return value ?? rule.default;
  if (type !== 'integer' && type !== 'number') return isValid(rule, value) ? value : rule.default;
  if (typeof value !== 'number' || !Number.isFinite(value)) return rule.default;
  return Math.max(minimum, type === 'integer' ? Math.floor(value) : value);
}

function describeRule(rule: Rule): string {
  const { type, minimum } = rule;
  if (rule.enum) return `${rule.enum.slice(0, -1).join(', ')} or ${rule.enum.at(-1)}`;
  if (type === 'integer' || type === 'number') {
    return `${type === 'integer' ? 'a whole number' : 'a number'} of at least ${minimum}`;
  }
  const words = {
    boolean: 'true or false',
    string: 'a string',
    array: 'a list of strings',
    object: 'an object',
  };
  return words[type];
}
