import { isObject } from '../../base/json2.ts';
import type { FileReference } from '../../ports.ts';
import { alternativesOf, flattenSchema, type Keywords } from '../schema/schema.ts';
import { type Hints, readHints } from './hints.ts';

/** What a reference becomes at its place. */
export type FileForm =
  | { readonly kind: 'base64' | 'base64url' | 'dataUrl' | 'path' | 'fileUrl' }
  | { readonly kind: 'list'; readonly of: FileForm }
  | { readonly kind: 'object'; readonly fields: readonly FormField[] };

export type StringForm = Extract<FileForm, { kind: 'base64' | 'base64url' | 'dataUrl' | 'path' | 'fileUrl' }>;

/** One property of an object that stands for a file. */
export interface FormField {
  readonly name: string;
  readonly value:
    | { readonly kind: 'name' | 'mimeType' | 'size' }
    | { readonly kind: 'constant'; readonly constant: unknown }
    | StringForm;
}

/** A place in the arguments: what it is called, what its schema says, and what the schema's references count from. */
export interface Place {
  readonly name: string;
  readonly schema: unknown;
  readonly root: unknown;
  /** What was said of the list or union that this is a part of. */
  readonly description?: string;
}

export interface JudgedForm {
  readonly form: FileForm;
  /** True when the schema asks for a file; false when it only does not forbid one. */
  readonly clear: boolean;
}

/** Deeper schemas are circles. */
const MAX_DEPTH = 8;

/** What the schema asks for at a place; nothing where a file cannot be given. Never throws. */
export function judgeForm(place: Place, source: FileReference['kind'], depth = 0): JudgedForm | undefined {
  if (depth > MAX_DEPTH) return undefined;
  const { keywords } = flattenSchema(place.schema, place.root);
  const description = textOf(keywords['description']) || (place.description ?? '');
  const within = { ...place, description };
  const members = alternativesOf(keywords, place.root);
  if (members) return judgeUnion(within, withRest(members, keywords), source, depth);
  if (isChosen(keywords)) return undefined;
  const types = [keywords['type'] ?? impliedType(keywords)].flat();
  if (types.includes('string') || types.includes(undefined)) {
    return judgeString(readHints({ name: place.name, description, keywords }), source);
  }
  if (types.includes('array')) return judgeList(within, keywords, source, depth);
  return types.includes('object') ? judgeObject(within, keywords, source) : undefined;
}

/** The forms of a string, the first that fits. What is said in keywords counts more than names and prose. */
const STRING_FORMS: readonly {
  readonly form: StringForm['kind'];
  readonly when: (hints: Hints) => boolean;
  /** A guess that is good enough for a reference, and too weak to take the place for a file's. */
  readonly weak?: true;
}[] = [
  // Words that leave no doubt.
  {
    form: 'dataUrl',
    when: ({ format, pattern }) => isOneOf(format, 'data-url', 'data-uri') || pattern.startsWith('^data:'),
  },
  { form: 'base64url', when: ({ encoding, format }) => encoding === 'base64url' || format === 'base64url' },
  {
    form: 'base64',
    when: ({ encoding, format }) => encoding === 'base64' || isOneOf(format, 'byte', 'base64', 'binary'),
  },
  { form: 'dataUrl', when: ({ about }) => about.dataUrl },
  // Most addresses are those of web pages.
  { form: 'fileUrl', when: ({ format }) => isOneOf(format, 'uri', 'url', 'iri'), weak: true },
  {
    form: 'path',
    when: ({ format }) => isOneOf(format, 'path', 'file-path', 'uri-reference', 'iri-reference'),
  },
  // “file: the base64 of …” is no path, whatever it is called.
  { form: 'base64', when: ({ about, name }) => about.base64 || name.bytes },
  // “data: path to the table” is no data.
  { form: 'path', when: ({ about, name }) => about.beginsWithPath || name.path },
  { form: 'fileUrl', when: ({ name }) => name.url, weak: true },
  { form: 'base64', when: ({ name, hasMediaType }) => name.data || hasMediaType },
  { form: 'path', when: ({ about }) => about.path },
  { form: 'base64', when: ({ about }) => about.data, weak: true },
];

/**
 * Where the schema says nothing. Bytes from a tool go on as bytes: the next tool may run elsewhere, and the
 * name in `cmdassets/` means nothing to it. Who writes a path means a path.
 */
const DEFAULT_FORMS: Readonly<Record<FileReference['kind'], StringForm['kind']>> = {
  asset: 'base64',
  file: 'path',
};

function judgeString(
  hints: Hints,
  source: FileReference['kind'],
): JudgedForm & { readonly form: StringForm } {
  const found = STRING_FORMS.find(({ when }) => when(hints));
  return { form: { kind: found?.form ?? DEFAULT_FORMS[source] }, clear: found !== undefined && !found.weak };
}

/** What stands beside a union holds for each of its members; many members only say which names are required. */
function withRest(members: readonly Keywords[], keywords: Keywords): readonly Keywords[] {
  const { anyOf: _anyOf, oneOf: _oneOf, description: _description, ...rest } = keywords;
  return members.map((member) => ({ ...rest, ...member }));
}

/** The first alternative that asks for a file, else the first that can take one; a string before all else. */
function judgeUnion(
  place: Place,
  members: readonly Keywords[],
  source: FileReference['kind'],
  depth: number,
): JudgedForm | undefined {
  const judged = members.flatMap((schema) => judgeForm({ ...place, schema }, source, depth + 1) ?? []);
  const isString = ({ form }: JudgedForm) => form.kind !== 'list' && form.kind !== 'object';
  return (
    judged.find((each) => each.clear && isString(each)) ??
    judged.find((each) => each.clear) ??
    judged.find(isString) ??
    judged[0]
  );
}

function judgeList(
  place: Place,
  keywords: Keywords,
  source: FileReference['kind'],
  depth: number,
): JudgedForm | undefined {
  const { items, prefixItems } = keywords;
  const schema = Array.isArray(prefixItems) ? prefixItems[0] : items;
  const judged = judgeForm({ ...place, schema }, source, depth + 1);
  return judged && { form: { kind: 'list', of: judged.form }, clear: judged.clear };
}

/** What the properties of objects that stand for files are called, in lower case and without `_` and `-`. */
const NAME_FIELDS = ['name', 'filename'];
const TYPE_FIELDS = ['mimetype', 'mediatype', 'contenttype', 'mime', 'type'];
const SIZE_FIELDS = ['size', 'filesize', 'bytelength'];
/** What carries the file itself, the best first. */
const CARRIERS = [
  'data',
  'base64',
  'blob',
  'bytes',
  'content',
  'contents',
  'body',
  'path',
  'filepath',
  'uri',
  'url',
];

/** A free-form object gets the three that the contract names. */
const FREE_FORM: FileForm = {
  kind: 'object',
  fields: [
    { name: 'name', value: { kind: 'name' } },
    { name: 'mimeType', value: { kind: 'mimeType' } },
    { name: 'data', value: { kind: 'base64' } },
  ],
};

function judgeObject(
  place: Place,
  keywords: Keywords,
  source: FileReference['kind'],
): JudgedForm | undefined {
  const properties = isObject(keywords['properties']) ? Object.entries(keywords['properties']) : [];
  if (properties.length === 0) return { form: FREE_FORM, clear: false };
  const carriers = chooseCarriers(properties, keywords['required']);
  if (carriers.size === 0) return undefined;
  const fields = properties.flatMap(([name, schema]) => {
    const field = carriers.has(name)
      ? carrierField({ name, schema, root: place.root }, source)
      : describingField(name, flattenSchema(schema, place.root).keywords);
    return field ? [field] : [];
  });
  return { form: { kind: 'object', fields }, clear: true };
}

/** All that are required; else the best one, so that no file is sent twice. */
function chooseCarriers(
  properties: readonly (readonly [string, unknown])[],
  required: unknown,
): ReadonlySet<string> {
  const names = properties.map(([name]) => name).filter((name) => CARRIERS.includes(plain(name)));
  const needed = names.filter((name) => Array.isArray(required) && required.includes(name));
  if (needed.length > 0) return new Set(needed);
  const rank = (name: string) => CARRIERS.indexOf(plain(name));
  return new Set(names.toSorted((a, b) => rank(a) - rank(b)).slice(0, 1));
}

function carrierField(place: Place, source: FileReference['kind']): FormField | undefined {
  const { keywords } = flattenSchema(place.schema, place.root);
  const description = textOf(keywords['description']);
  const { form } = judgeString(readHints({ name: place.name, description, keywords }), source);
  return isChosen(keywords) ? constantField(place.name, keywords) : { name: place.name, value: form };
}

function describingField(name: string, keywords: Keywords): FormField | undefined {
  const called = plain(name);
  if (isChosen(keywords)) return constantField(name, keywords);
  if (NAME_FIELDS.includes(called)) return { name, value: { kind: 'name' } };
  if (TYPE_FIELDS.includes(called)) return { name, value: { kind: 'mimeType' } };
  return SIZE_FIELDS.includes(called) && keywords['type'] !== 'string'
    ? { name, value: { kind: 'size' } }
    : undefined;
}

/** `type: { const: "file" }` and `encoding: { enum: ["utf8", "base64"] }` say which value goes with a file. */
function constantField(name: string, { const: constant, enum: choices }: Keywords): FormField | undefined {
  const values = Array.isArray(choices) ? choices : [constant];
  const chosen = values.length === 1 ? values[0] : values.find((value) => value === 'base64');
  return chosen === undefined ? undefined : { name, value: { kind: 'constant', constant: chosen } };
}

function isChosen(keywords: Keywords): boolean {
  return Object.hasOwn(keywords, 'const') || Array.isArray(keywords['enum']);
}

function impliedType(keywords: Keywords): string | undefined {
  if (keywords['properties'] !== undefined) return 'object';
  return keywords['items'] === undefined ? undefined : 'array';
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[_-]/g, '');
}

function isOneOf(value: string, ...values: readonly string[]): boolean {
  return values.includes(value);
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
