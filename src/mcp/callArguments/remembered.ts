import { field, isObject } from '../../base/json.ts';
import { looksSecret } from '../config/secrets.ts';
import { SchemaWalk } from '../schema/walk.ts';

type Arguments = Readonly<Record<string, unknown>>;

const MAX_TEXT_CHARS = 2_000;
const MAX_CHARS = 8_000;

/**
 * The arguments of a call that may be stored to offer them again. Secrets and long texts, which may be the contents of
 * files, are left out. Undefined if nothing is left.
 */
export function rememberable(inputSchema: unknown, args: Arguments): Arguments | undefined {
  const walk = new SchemaWalk(inputSchema);
  const { properties } = walk.propertiesOf(walk.flatten(inputSchema).keywords);
  const kept = Object.entries(args).filter(([name, value]) => {
    const { keywords } = walk.flatten(properties.get(name));
    const isHidden = keywords['format'] === 'password' || keywords['writeOnly'] === true;
    return value !== undefined && !isHidden && isPlain(name, value);
  });
  const isLong = JSON.stringify(kept).length > MAX_CHARS;
  return kept.length === 0 || isLong ? undefined : Object.fromEntries(kept);
}

/** The stored arguments that the tool still knows. */
export function stillKnown(inputSchema: unknown, args: unknown): Arguments {
  const walk = new SchemaWalk(inputSchema);
  const { properties } = walk.propertiesOf(walk.flatten(inputSchema).keywords);
  if (!isObject(args)) return {};
  return Object.fromEntries(Object.entries(args).filter(([name]) => properties.has(name)));
}

/** Only as the last word, so that `keywords` and `maxTokens` do not match. */
const SECRET_NAME = /(?:key|token|secret|password|passwd|passphrase|authorization|credentials?)$/i;

function isPlain(name: string, value: unknown): boolean {
  if (SECRET_NAME.test(name)) return false;
  if (typeof value === 'string') return value.length <= MAX_TEXT_CHARS && !looksSecret('', value);
  if (Array.isArray(value)) return value.every((item: unknown) => isPlain('', item));
  return !isObject(value) || Object.keys(value).every((key) => isPlain(key, field(value, key)));
}
