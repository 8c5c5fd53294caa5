import { isRecord, mapStrings } from '../../base/json.ts';

type Schema = Readonly<Record<string, unknown>>;

/**
 * A tool's input schema as every provider takes it: an object at the top, without `$schema`, and without
 * alternatives at the top, which several refuse. What the tool really takes is checked when it is called.
 */
export function acceptableSchema(schema: unknown): Schema {
  const clean = mapStrings(schema, stripTags);
  const root = isRecord(clean) ? followReference(clean) : {};
  const { $schema: _, $ref: __, anyOf, oneOf, allOf, type: ___, ...rest } = root;
  const every = branches(allOf);
  const some = [...branches(anyOf), ...branches(oneOf)];
  const properties = [...some, ...every, rest].flatMap((each) =>
    Object.entries(ownObject(each, 'properties')),
  );
  const required = [rest, ...every].flatMap((each) => ownList(each, 'required'));
  return {
    ...rest,
    type: 'object',
    properties: Object.fromEntries(properties),
    ...(required.length > 0 ? { required: [...new Set(required)] } : {}),
  };
}

/** Tag characters cannot be seen by anyone but a model, which reads them as letters. */
export function stripTags(text: string): string {
  return text.replace(/[\u{e0000}-\u{e0fff}]/gu, '');
}

/** A schema that is only a reference into itself, as some generators write it. */
function followReference(schema: Schema): Schema {
  const match = /^#\/(\$defs|definitions)\/([^/]+)$/.exec(String(schema['$ref'] ?? ''));
  if (!match?.[1] || !match[2]) return schema;
  const target = ownObject(ownObject(schema, match[1]), match[2]);
  return { ...schema, ...target };
}

function branches(list: unknown): readonly Schema[] {
  return Array.isArray(list) ? list.filter(isRecord) : [];
}

function ownObject(schema: Schema, key: string): Schema {
  const value = Object.hasOwn(schema, key) ? schema[key] : undefined;
  return isRecord(value) ? value : {};
}

function ownList(schema: Schema, key: string): readonly string[] {
  const value = Object.hasOwn(schema, key) ? schema[key] : undefined;
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
}
