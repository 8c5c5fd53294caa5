import { isObject } from '../../base/json.ts';
import { exampleFor, printJson } from './example.ts';
import { matchesPattern } from './pattern.ts';
import type {
  AnswerChoice,
  ArgumentQuestion,
  CheckedAnswer,
  ChoiceQuestion,
  ChoicesQuestion,
  JsonQuestion,
  NumberQuestion,
  TextFormat,
  TextQuestion,
} from './question.ts';

/** Reads what a person typed. An empty answer leaves an optional argument out: its value is undefined. */
export function checkAnswer(question: ArgumentQuestion, text: string): CheckedAnswer {
  if (question.kind === 'text' ? text === '' : text.trim() === '') {
    return checkEmpty(question);
  }
  switch (question.kind) {
    case 'choice':
      return checkChoice(question, text);
    case 'choices':
      return checkChoices(question, text);
    case 'yesNo':
      return checkYesNo(text);
    case 'number':
      return checkNumber(question, text.trim());
    case 'text':
      return checkText(question, text);
    case 'json':
      return checkJson(question, text);
  }
}

/** The text that stands for a value: what to put into the input box for a default. */
export function printAnswer(question: ArgumentQuestion, value: unknown): string {
  if (value === undefined || (value === null && question.nullable)) {
    return '';
  }
  if (question.kind === 'choice') {
    const json = printJson(value);
    return question.choices.find((choice) => printJson(choice.value) === json)?.text ?? json ?? '';
  }
  return question.kind === 'text' && typeof value === 'string' ? value : (printJson(value) ?? '');
}

function checkEmpty(question: ArgumentQuestion): CheckedAnswer {
  if (question.kind === 'choice') {
    // An empty string can be one of the choices.
    const choice = question.choices.find(({ text }) => text === '');
    if (choice !== undefined) {
      return valid(choice.value);
    }
  }
  if (!question.required) {
    return valid(undefined);
  }
  if (question.nullable) {
    return valid(null);
  }
  return question.kind === 'text' && question.default === '' ? valid('') : wrong('An answer is needed.');
}

const MAX_CHOICES_SHOWN = 10;

function checkChoice({ choices }: ChoiceQuestion, text: string): CheckedAnswer {
  const choice = findChoice(choices, text);
  return choice === undefined ? wrong(`Choose one of: ${listChoices(choices)}`) : valid(choice.value);
}

function findChoice(choices: readonly AnswerChoice[], text: string): AnswerChoice | undefined {
  return (
    choices.find((candidate) => candidate.text === text) ??
    choices.find((candidate) => candidate.text === text.trim() || candidate.label === text.trim())
  );
}

function listChoices(choices: readonly AnswerChoice[]): string {
  const shown = choices.slice(0, MAX_CHOICES_SHOWN).map((candidate) => candidate.text);
  return `${shown.join(', ')}${choices.length > shown.length ? ', …' : '.'}`;
}

/** A list as JSON, or names with commas between them. */
function checkChoices(question: ChoicesQuestion, text: string): CheckedAnswer {
  const { minItems = 0, maxItems = Number.POSITIVE_INFINITY, unique } = question;
  const read = readList(question, text);
  if (!read.ok) return read;
  const { value: values } = read;
  if (unique && new Set(values.map(printJson)).size < values.length) {
    return wrong('Each may be chosen only once.');
  }
  if (values.length < minItems) return wrong(`Choose at least ${minItems}.`);
  return values.length > maxItems ? wrong(`Choose at most ${maxItems}.`) : valid(values);
}

type ReadList =
  | { readonly ok: true; readonly value: readonly unknown[] }
  | Extract<CheckedAnswer, { ok: false }>;

function readList({ choices }: ChoicesQuestion, text: string): ReadList {
  const items = parseList(text);
  const found = items
    ? items.map((item) => {
        const json = printJson(item);
        return choices.find(({ value }) => printJson(value) === json);
      })
    : [findChoice(choices, text)];
  const named = found.includes(undefined)
    ? text.split(',').map((name) => findChoice(choices, name.trim()))
    : found;
  const chosen = named.filter((choice) => choice !== undefined);
  return chosen.length === named.length
    ? { ok: true, value: chosen.map(({ value }) => value) }
    : { ok: false, message: `Choose among: ${listChoices(choices)}` };
}

function parseList(text: string): readonly unknown[] | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const YES_NO: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['yes', true],
  ['y', true],
  ['1', true],
  ['false', false],
  ['no', false],
  ['n', false],
  ['0', false],
]);

function checkYesNo(text: string): CheckedAnswer {
  const value = YES_NO.get(text.trim().toLowerCase());
  return value === undefined ? wrong('Answer yes or no.') : valid(value);
}

const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;

function checkNumber(question: NumberQuestion, text: string): CheckedAnswer {
  const value = Number(text);
  if (!NUMBER.test(text) || !Number.isFinite(value)) {
    return wrong(question.integer ? 'Type a whole number, such as 3.' : 'Type a number, such as 3 or 0.5.');
  }
  if (question.integer && !Number.isSafeInteger(value)) {
    return wrong(Number.isInteger(value) ? 'This number is too large to be exact.' : 'Type a whole number.');
  }
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = question;
  if (minimum !== undefined && value < minimum) {
    return wrong(`It must be at least ${minimum}.`);
  }
  if (maximum !== undefined && value > maximum) {
    return wrong(`It must be at most ${maximum}.`);
  }
  if (exclusiveMinimum !== undefined && value <= exclusiveMinimum) {
    return wrong(`It must be more than ${exclusiveMinimum}.`);
  }
  if (exclusiveMaximum !== undefined && value >= exclusiveMaximum) {
    return wrong(`It must be less than ${exclusiveMaximum}.`);
  }
  return multipleOf === undefined || isMultiple(value, multipleOf)
    ? valid(value)
    : wrong(`It must be a multiple of ${multipleOf}.`);
}

/** 0.3 is a multiple of 0.1, whatever binary fractions say. */
function isMultiple(value: number, step: number): boolean {
  const times = value / step;
  return Math.abs(times - Math.round(times)) <= 1e-9 * Math.max(1, Math.abs(times));
}

function checkText({ minLength, maxLength, pattern, format }: TextQuestion, text: string): CheckedAnswer {
  const length = [...text].length;
  if (minLength !== undefined && length < minLength) {
    return wrong(`It must have at least ${minLength} characters.`);
  }
  if (maxLength !== undefined && length > maxLength) {
    return wrong(`It must have at most ${maxLength} characters.`);
  }
  if (format !== undefined && !hasFormat(format, text)) {
    return wrong(`It must be written like this: ${exampleFor({ type: 'string', format })}`);
  }
  return pattern === undefined || matchesPattern(pattern, text)
    ? valid(text)
    : wrong(`It must match the pattern ${pattern}`);
}

function checkJson({ example, shape, allowsText }: JsonQuestion, text: string): CheckedAnswer {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return allowsText
      ? valid(text)
      : wrong(`This is not JSON: ${(error as Error).message}. Such as: ${example}`);
  }
  if ((shape === 'object' && !isObject(value)) || (shape === 'array' && !Array.isArray(value))) {
    return wrong(`It must be a JSON ${shape}, such as: ${example}`);
  }
  return valid(value);
}

function valid(value: unknown): CheckedAnswer {
  return { ok: true, value };
}

function wrong(message: string): CheckedAnswer {
  return { ok: false, message };
}

/** Addresses and dates are shorter; what is longer is not looked at. */
const MAX_CHARS = 10_000;

const CHECKS: Readonly<Record<TextFormat, (text: string) => boolean>> = {
  email: isEmail,
  uri: isUri,
  date: isDate,
  'date-time': isDateTime,
};

export function isTextFormat(value: unknown): value is TextFormat {
  return typeof value === 'string' && Object.hasOwn(CHECKS, value);
}

export function hasFormat(format: TextFormat, text: string): boolean {
  return text.length <= MAX_CHARS && CHECKS[format](text);
}

/** Only what every mailbox has; the rest is known to the mail server alone. */
function isEmail(text: string): boolean {
  const at = text.lastIndexOf('@');
  const labels = text.slice(at + 1).split('.');
  return at > 0 && !/[\s@]/.test(text.slice(0, at)) && labels.every(isLabel);
}

function isLabel(label: string): boolean {
  return (
    label !== '' && !/[^\p{L}\p{M}\p{N}-]/u.test(label) && !label.startsWith('-') && !label.endsWith('-')
  );
}

function isUri(text: string): boolean {
  return /^[a-z][a-z0-9+.-]*:[^\s<>"{}|\\^`]+$/i.test(text) && URL.canParse(text);
}

const DATE = /^(\d{4})-(\d\d)-(\d\d)$/;

function isDate(text: string): boolean {
  const [, year = '', month = '', day = ''] = DATE.exec(text) ?? [];
  const date = new Date(`${year}-${month}-${day}T00:00:00Z`);
  // February 30 would be a day in March.
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}

const TIME = /^(?:[01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|60)(?:\.\d{1,9})?(?:z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/i;

function isDateTime(text: string): boolean {
  return isDate(text.slice(0, 10)) && /^[Tt]$/.test(text.charAt(10)) && TIME.test(text.slice(11));
}
