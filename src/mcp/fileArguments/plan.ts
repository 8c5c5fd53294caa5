import { field, isObject } from '../../base/json.ts';
import type { FileReference } from '../../ports/files.ts';

import { alternativesOf, flattenSchema, type Keywords } from '../schema/schema.ts';
import { type ArgumentPlace, type FileForm, inferForm } from './form.ts';
import { parseReference } from './reference.ts';

/** A reference in the arguments, and what it should become. */
export interface FileUse {
  /** Where it stands, such as `files[0].data`. */
  readonly where: string;
  readonly steps: readonly Step[];
  /** As it is written. */
  readonly text: string;
  readonly reference: FileReference;
  readonly form: FileForm;
}

export type Step = string | number;

export type FilePlan =
  | { readonly ok: true; readonly uses: readonly FileUse[] }
  | { readonly ok: false; readonly message: string };

/** Arguments that are nested deeper hold no references. */
const MAX_DEPTH = 32;
const MAX_USES = 1000;
const MAX_SHOWN_CHARS = 200;

/** Finds the references in the arguments by walking them together with their schema. Never throws. */
export function planFileArguments(args: Readonly<Record<string, unknown>>, inputSchema: unknown): FilePlan {
  const uses: FileUse[] = [];
  const root = { name: '', schema: inputSchema, root: inputSchema };
  const message = walk({ value: args, place: root, steps: [] }, uses);
  if (message !== undefined) return { ok: false, message };
  if (uses.length <= MAX_USES) return { ok: true, uses };
  return { ok: false, message: `The arguments refer to more than ${MAX_USES} files. Nothing was called.` };
}

/** The arguments with a value in the place of each reference. What is not on the way there stays as it is. */
export function fillFileArguments(
  args: Readonly<Record<string, unknown>>,
  values: readonly { readonly steps: readonly Step[]; readonly value: unknown }[],
): Readonly<Record<string, unknown>> {
  const filled = fill(args, values);
  return isObject(filled) ? filled : args;
}

/** Whether a dialog that chooses a file, or several, helps to answer the question for this argument. */
export function expectedFiles(inputSchema: unknown, name: string): 'one' | 'many' | undefined {
  const { keywords } = flattenSchema(inputSchema, inputSchema);
  const schema = field(keywords['properties'], name);
  const judged = schema === undefined ? undefined : inferForm({ name, schema, root: inputSchema }, 'file');
  if (!judged?.explicit) return undefined;
  return judged.form.kind === 'list' ? 'many' : 'one';
}

interface Visit {
  readonly value: unknown;
  readonly place: ArgumentPlace;
  readonly steps: readonly Step[];
}

/** Says what is wrong with the first reference that cannot be followed. */
function walk(visit: Visit, uses: FileUse[]): string | undefined {
  if (typeof visit.value === 'string') return visitText(visit.value, visit, uses);
  if (visit.steps.length >= MAX_DEPTH || uses.length > MAX_USES) return undefined;
  for (const inner of innerVisits(visit)) {
    const message = walk(inner, uses);
    if (message !== undefined) return message;
  }
  return undefined;
}

function visitText(text: string, { place, steps }: Visit, uses: FileUse[]): string | undefined {
  // Most strings are not; then nothing has to be known of their schema.
  if (!/^(?:asset|file):/.test(text)) return undefined;
  const read = parseReference(text, inferForm(place, 'file')?.explicit);
  const where = describeSteps(steps);
  if (read.kind === 'text') return undefined;
  if (read.kind === 'refused') return describeRefusal(text, where, read.reason);
  const judged = inferForm(place, read.reference.kind);
  if (judged) {
    uses.push({ where, steps, text, reference: read.reference, form: judged.form });
    return undefined;
  }
  return isAmongChoices(text, place)
    ? undefined
    : describeRefusal(text, where, 'the schema of the tool has no place for a file there');
}

export function describeRefusal(text: string, where: string, reason: string): string {
  const shown = text.length <= MAX_SHOWN_CHARS ? text : `${text.slice(0, MAX_SHOWN_CHARS)}…`;
  return `The file “${shown}” in the argument ${where} was not used: ${reason}. Nothing was called.`;
}

function isAmongChoices(text: string, { schema, root }: ArgumentPlace): boolean {
  const { enum: choices, const: constant } = flattenSchema(schema, root).keywords;
  return constant === text || (Array.isArray(choices) && choices.includes(text));
}

function innerVisits({ value, place, steps }: Visit): readonly Visit[] {
  if (Array.isArray(value)) {
    const keywords = choose(place, 'array');
    const description = describe(keywords, place);
    return value.map((item: unknown, index) => ({
      value: item,
      place: { name: place.name, schema: itemSchema(keywords, index), root: place.root, ...description },
      steps: [...steps, index],
    }));
  }
  if (!isObject(value)) return [];
  const keywords = choose(place, 'object');
  return Object.entries(value).map(([name, item]) => ({
    value: item,
    place: { name, schema: propertySchema(keywords, name), root: place.root },
    steps: [...steps, name],
  }));
}

/** What the schema says of a value of this type; of a union, the member that is about it. */
function choose({ schema, root }: ArgumentPlace, type: 'array' | 'object'): Keywords {
  const { keywords } = flattenSchema(schema, root);
  const key = type === 'array' ? 'items' : 'properties';
  const isAbout = (member: Keywords) => [member['type']].flat().includes(type) || member[key] !== undefined;
  return alternativesOf(keywords, root)?.find(isAbout) ?? keywords;
}

/** What is said of a list holds for its items, unless they say it themselves. */
function describe(keywords: Keywords, { description }: ArgumentPlace): { readonly description?: string } {
  const own = keywords['description'];
  const said = typeof own === 'string' ? own : description;
  return said === undefined ? {} : { description: said };
}

function itemSchema({ items, prefixItems }: Keywords, index: number): unknown {
  return (Array.isArray(prefixItems) ? prefixItems[index] : undefined) ?? items;
}

function propertySchema({ properties, additionalProperties }: Keywords, name: string): unknown {
  return field(properties, name) ?? additionalProperties;
}

function describeSteps(steps: readonly Step[]): string {
  return steps.reduce<string>(
    (where, step) =>
      typeof step === 'number' ? `${where}[${step}]` : where === '' ? step : `${where}.${step}`,
    '',
  );
}

type Replacements = readonly { readonly steps: readonly Step[]; readonly value: unknown }[];

function fill(value: unknown, fillings: Replacements): unknown {
  const here = fillings.find(({ steps }) => steps.length === 0);
  if (here) return here.value;
  if (fillings.length === 0) return value;
  const below = (step: Step): Replacements =>
    fillings.flatMap(({ steps: [first, ...rest], value: inner }) =>
      first === step ? [{ steps: rest, value: inner }] : [],
    );
  if (Array.isArray(value)) return value.map((item: unknown, index) => fill(item, below(index)));
  if (!isObject(value)) return value;
  // Unlike assignments, this makes ordinary properties even of names such as "__proto__".
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, fill(item, below(name))]));
}
