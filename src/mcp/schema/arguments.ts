import {
  type AnswerChoice,
  type ArgumentQuestion,
  isAnswer,
  isTextFormat,
  type QuestionKind,
} from './answer.ts';
import { exampleFor } from './example.ts';
import { type Keywords, SchemaWalk } from './walk.ts';

const MAX_TITLE_CHARS = 100;
const MAX_DESCRIPTION_CHARS = 1000;
const MAX_CHOICES = 1000;

/**
 * The questions for a tool's arguments, required ones first, otherwise in the schema's order. Never throws. Use
 * `withPatterns` if the user answers them.
 */
export function argumentQuestions(inputSchema: unknown): readonly ArgumentQuestion[] {
  const walk = new SchemaWalk(inputSchema);
  const { properties, required } = readObject(walk);
  const named = [...properties].filter(([name, schema]) => schema !== false || required.has(name));
  const unnamed = [...required].filter((name) => !properties.has(name)).map((name) => [name, true] as const);
  return [...named, ...unnamed]
    .map(([name, schema]) => questionFor(name, schema, required.has(name), walk))
    .sort((a, b) => Number(b.required) - Number(a.required));
}

/**
 * Adds the checks of the patterns. They run on RE2, in linear time: on RegExp, a server's pattern such as `^(a+)+$`
 * could block the editor. Descriptions mention patterns that RE2 does not support, which only the server checks.
 */
export async function withPatterns(
  questions: readonly ArgumentQuestion[],
): Promise<readonly ArgumentQuestion[]> {
  if (!questions.some((question) => question.kind === 'text' && question.pattern !== undefined)) {
    return questions;
  }
  const { RE2JS } = await import('re2js');
  let instructions = 0;
  /** Throws if RE2 does not support the pattern, or the patterns are too large. */
  const compile = (pattern: string): ((text: string) => boolean) => {
    if (pattern.length > MAX_PATTERN_CHARS || instructions > MAX_INSTRUCTIONS)
      throw new Error('It is too large.');
    const compiled = RE2JS.compile(RE2JS.translateRegExp(pattern));
    instructions += compiled.programSize();
    const maxChars = MAX_PATTERN_STEPS / compiled.programSize();
    return (text) => text.length > maxChars || compiled.test(text);
  };
  return questions.map((question) => {
    if (question.kind !== 'text' || question.pattern === undefined) return question;
    const { pattern } = question;
    try {
      return withValidDefault({ ...question, matches: compile(pattern) });
    } catch {
      return withNote(
        question,
        `(The pattern ${cut(pattern, MAX_TITLE_CHARS)} is checked only by the server.)`,
      );
    }
  });
}

const MAX_PATTERN_CHARS = 500;
/** For all patterns; compiling 500 characters can produce half a million. */
const MAX_INSTRUCTIONS = 20_000;
/** Instructions times characters of the text, which take about 0.1 s. Longer text is not checked. */
const MAX_PATTERN_STEPS = 200_000;

export function fillDefaults(
  inputSchema: unknown,
  args: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const walk = new SchemaWalk(inputSchema);
  const { properties } = readObject(walk);
  const defaults = [...properties].flatMap(([name, schema]) => {
    const value = walk.flatten(schema).keywords['default'];
    return value === undefined || isGiven(args, name) ? [] : [[name, value] as const];
  });
  // `fromEntries` also creates an own property for "__proto__".
  return Object.fromEntries([
    ...Object.entries(args).filter(([, value]) => value !== undefined),
    ...defaults,
  ]);
}

export function missingArguments(inputSchema: unknown, args: Readonly<Record<string, unknown>>): string[] {
  return [...readObject(new SchemaWalk(inputSchema)).required].filter((name) => !isGiven(args, name));
}

function readObject(walk: SchemaWalk): ReturnType<SchemaWalk['propertiesOf']> {
  return walk.propertiesOf(walk.flatten(walk.root).keywords);
}

function isGiven(args: Readonly<Record<string, unknown>>, name: string): boolean {
  return Object.hasOwn(args, name) && args[name] !== undefined;
}

function questionFor(name: string, schema: unknown, required: boolean, walk: SchemaWalk): ArgumentQuestion {
  const { keywords, nullable } = walk.flatten(schema);
  const { title, description } = keywords;
  const question: ArgumentQuestion = {
    name,
    title: typeof title === 'string' && title !== '' ? cut(title, MAX_TITLE_CHARS) : name,
    ...(typeof description === 'string' ? { description: cut(description, MAX_DESCRIPTION_CHARS) } : {}),
    required,
    nullable,
    ...kindOf(keywords, walk),
  };
  if (walk.isSpent) return withNote(question, '(The schema of this tool is too large to check the value.)');
  const withDefault = { ...question, default: keywords['default'] };
  // The check compares the default with all choices.
  return walk.print(withDefault) === undefined ? question : withValidDefault(withDefault);
}

function withNote(question: ArgumentQuestion, note: string): ArgumentQuestion {
  return { ...question, description: `${question.description ?? ''} ${note}`.trim() };
}

function withValidDefault(question: ArgumentQuestion): ArgumentQuestion {
  const { default: fallback, ...others } = question;
  return fallback !== undefined && isAnswer(question, fallback) ? question : others;
}

function kindOf(keywords: Keywords, walk: SchemaWalk): QuestionKind {
  const choices = readChoices(keywords, walk);
  if (choices.length > 0) return { kind: 'choice', choices };
  const several = choicesKind(keywords, walk);
  if (several !== undefined) return several;
  switch (keywords['type']) {
    case 'boolean':
      return { kind: 'yesNo' };
    case 'number':
    case 'integer':
      return numberKind(keywords);
    case 'string':
      return textKind(keywords);
    default:
      return jsonKind(keywords, walk);
  }
}

function readChoices(keywords: Keywords, walk: SchemaWalk): AnswerChoice[] {
  const { enum: values } = keywords;
  if (Object.hasOwn(keywords, 'const')) return nameChoices([{ value: keywords['const'] }], walk);
  if (Array.isArray(values)) {
    const { enumNames: titles } = keywords;
    return nameChoices(
      values.map((value, index) => ({ value, title: Array.isArray(titles) ? titles[index] : undefined })),
      walk,
    );
  }
  const members = walk.alternatives(keywords) ?? [];
  return members.every((member) => Object.hasOwn(member, 'const'))
    ? nameChoices(
        members.map((member) => ({ value: member['const'], title: member['title'] })),
        walk,
      )
    : [];
}

function choicesKind(keywords: Keywords, walk: SchemaWalk): QuestionKind | undefined {
  const { type, items, prefixItems, minItems, maxItems } = keywords;
  if (type !== 'array' || prefixItems !== undefined) return undefined;
  const each = walk.flatten(items);
  const choices = each.nullable ? [] : readChoices(each.keywords, walk);
  if (choices.length === 0) return undefined;
  return {
    kind: 'choices',
    choices,
    ...numbersOf({ minItems, maxItems }),
    unique: keywords['uniqueItems'] === true,
  };
}

function nameChoices(
  options: readonly { value: unknown; title?: unknown }[],
  walk: SchemaWalk,
): AnswerChoice[] {
  const some = options.slice(0, MAX_CHOICES);
  const distinct = new Map(some.map((option) => [walk.print(option.value), option]));
  distinct.delete(undefined);
  // A list that lacks some of the choices would be wrong.
  if (walk.isSpent) return [];
  const texts = new Set(
    [...distinct].map(([json, { value }]) => (typeof value === 'string' ? undefined : json)),
  );
  return [...distinct].map(([json, { value, title }]) => {
    let text = typeof value === 'string' ? value : (json ?? '');
    // If both "1" and 1 are choices, the string is written with its quotes.
    while (typeof value === 'string' && texts.has(text)) text = JSON.stringify(text);
    texts.add(text);
    return {
      value,
      text,
      label: typeof title === 'string' && title !== '' ? cut(title, MAX_TITLE_CHARS) : text,
    };
  });
}

function numberKind(keywords: Keywords): QuestionKind {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = keywords;
  // In old drafts the exclusive keywords are booleans that qualify the others.
  const above = exclusiveMinimum === true ? minimum : exclusiveMinimum;
  const below = exclusiveMaximum === true ? maximum : exclusiveMaximum;
  return {
    kind: 'number',
    integer: keywords['type'] === 'integer',
    ...numbersOf({ minimum, maximum, exclusiveMinimum: above, exclusiveMaximum: below }),
    ...(typeof multipleOf === 'number' && multipleOf > 0 ? { multipleOf } : {}),
  };
}

function textKind(keywords: Keywords): QuestionKind {
  const { minLength, maxLength, pattern, format } = keywords;
  return {
    kind: 'text',
    ...numbersOf({ minLength, maxLength }),
    ...(typeof pattern === 'string' ? { pattern } : {}),
    ...(isTextFormat(format) ? { format } : {}),
  };
}

function jsonKind(keywords: Keywords, walk: SchemaWalk): QuestionKind {
  const { type } = keywords;
  const types = new Set(walk.alternatives(keywords)?.map((member) => member['type']) ?? [type].flat());
  const shape = type === 'object' || type === 'array' ? ({ shape: type } as const) : {};
  const allowsText =
    !types.has('object') && !types.has('array') && (types.has('string') || types.has(undefined));
  return { kind: 'json', example: walk.print(exampleFor(keywords, walk)) ?? 'null', allowsText, ...shape };
}

function numbersOf<Key extends string>(values: Readonly<Record<Key, unknown>>): { [Name in Key]?: number } {
  const numbers = Object.entries(values).filter(([, value]) => typeof value === 'number');
  return Object.fromEntries(numbers) as { [Name in Key]?: number };
}

function cut(text: string, maxChars: number): string {
  return text.length <= maxChars ? text : `${text.slice(0, maxChars)}…`;
}
