import { isObject } from '../../base/json.ts';
import { exampleFor, printJson } from './example.ts';
import { matchesPattern } from './pattern.ts';
import type {
  AnswerChoice,
  ArgumentQuestion,
  CheckedAnswer,
  ChoicesKind,
  JsonKind,
  NumberKind,
  TextFormat,
  TextKind,
} from './question.ts';

/** Parses and checks a typed answer. An empty answer omits an optional argument: its value is undefined. */
export function checkAnswer(question: ArgumentQuestion, text: string): CheckedAnswer {
  if (question.kind === 'text' ? text === '' : text.trim() === '') return checkEmpty(question);
  const parsed = parseAnswer(question, text);
  return parsed.ok ? checkValue(question, parsed.value) : parsed;
}

/** Whether a value that was not typed, such as a default, is an answer to the question. */
export function isAnswer(question: ArgumentQuestion, value: unknown): boolean {
  const isEmpty = value === null ? question.nullable : value === '' && question.kind === 'text';
  // A value that cannot be printed, such as a circular object, could not be shown or sent.
  if (!isEmpty) return printJson(value) !== undefined && checkValue(question, value).ok;
  const answer = checkEmpty(question);
  return answer.ok && (answer.value === undefined || answer.value === value);
}

/** The text to show in an input box for a value. */
export function printAnswer(question: ArgumentQuestion, value: unknown): string {
  if (value === undefined || (value === null && question.nullable)) return '';
  if (question.kind === 'choice') return choiceOf(question.choices, value)?.text ?? printJson(value) ?? '';
  return question.kind === 'text' && typeof value === 'string' ? value : (printJson(value) ?? '');
}

function checkEmpty(question: ArgumentQuestion): CheckedAnswer {
  // An empty string can be one of the choices.
  const choice = question.kind === 'choice' ? question.choices.find(({ text }) => text === '') : undefined;
  if (choice !== undefined) return valid(choice.value);
  if (!question.required) return valid(undefined);
  if (question.nullable) return valid(null);
  return question.kind === 'text' && question.default === '' ? valid('') : invalid('A value is required.');
}

function parseAnswer(question: ArgumentQuestion, text: string): CheckedAnswer {
  switch (question.kind) {
    case 'choice': {
      const choice = findChoice(question.choices, text);
      return choice ? valid(choice.value) : invalid(`Choose one of: ${listChoices(question.choices)}`);
    }
    case 'choices':
      return parseChoices(question, text);
    case 'yesNo': {
      const word = text.trim().toLowerCase();
      return valid(YES.includes(word) || (NO.includes(word) ? false : undefined));
    }
    case 'number':
      return valid(NUMBER.test(text.trim()) ? Number(text) : undefined);
    case 'text':
      return valid(text);
    case 'json':
      return parseJson(question, text);
  }
}

const YES = ['true', 'yes', 'y', '1'];
const NO = ['false', 'no', 'n', '0'];
const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;

/** A JSON list, or names separated by commas. */
function parseChoices({ choices }: ChoicesKind, text: string): CheckedAnswer {
  const items = parseList(text);
  const found = items ? items.map((item) => choiceOf(choices, item)) : [findChoice(choices, text)];
  const named = found.includes(undefined)
    ? text.split(',').map((name) => findChoice(choices, name.trim()))
    : found;
  const chosen = named.filter((choice) => choice !== undefined);
  return chosen.length === named.length
    ? valid(chosen.map(({ value }) => value))
    : invalid(`Choose from: ${listChoices(choices)}`);
}

function parseList(text: string): readonly unknown[] | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function parseJson({ example, allowsText }: JsonKind, text: string): CheckedAnswer {
  try {
    return valid(JSON.parse(text));
  } catch (error) {
    return allowsText
      ? valid(text)
      : invalid(`This is not valid JSON: ${(error as Error).message}. Example: ${example}`);
  }
}

function checkValue(question: ArgumentQuestion, value: unknown): CheckedAnswer {
  switch (question.kind) {
    case 'choice': {
      const { choices } = question;
      return choiceOf(choices, value) ? valid(value) : invalid(`Choose one of: ${listChoices(choices)}`);
    }
    case 'choices':
      return checkChoices(question, value);
    case 'yesNo':
      return typeof value === 'boolean' ? valid(value) : invalid('Answer yes or no.');
    case 'number':
      return checkNumber(question, value);
    case 'text':
      return checkText(question, value);
    case 'json':
      return checkShape(question, value);
  }
}

function choiceOf(choices: readonly AnswerChoice[], value: unknown): AnswerChoice | undefined {
  const json = printJson(value);
  return choices.find((choice) => printJson(choice.value) === json);
}

function findChoice(choices: readonly AnswerChoice[], text: string): AnswerChoice | undefined {
  return (
    choices.find((choice) => choice.text === text) ??
    choices.find((choice) => choice.text === text.trim() || choice.label === text.trim())
  );
}

const MAX_CHOICES_SHOWN = 10;

function listChoices(choices: readonly AnswerChoice[]): string {
  const shown = choices.slice(0, MAX_CHOICES_SHOWN).map(({ text }) => text);
  return `${shown.join(', ')}${choices.length > shown.length ? ', …' : '.'}`;
}

function checkChoices(question: ChoicesKind, value: unknown): CheckedAnswer {
  const { choices, minItems = 0, maxItems = Number.POSITIVE_INFINITY, unique } = question;
  if (!Array.isArray(value) || !value.every((item) => choiceOf(choices, item))) {
    return invalid(`Choose from: ${listChoices(choices)}`);
  }
  if (unique && new Set(value.map(printJson)).size < value.length) {
    return invalid('Choose each item only once.');
  }
  if (value.length < minItems) return invalid(`Choose at least ${minItems}.`);
  return value.length > maxItems ? invalid(`Choose at most ${maxItems}.`) : valid(value);
}

function checkNumber(question: NumberKind, value: unknown): CheckedAnswer {
  const { integer, minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = question;
  if (typeof value !== 'number' || !Number.isFinite(value)) {
    return invalid(integer ? 'Type a whole number, such as 3.' : 'Type a number, such as 3 or 0.5.');
  }
  if (integer && !Number.isInteger(value)) return invalid('Type a whole number.');
  if (integer && !Number.isSafeInteger(value)) return invalid('This number is too large to be exact.');
  if (minimum !== undefined && value < minimum) return invalid(`It must be at least ${minimum}.`);
  if (maximum !== undefined && value > maximum) return invalid(`It must be at most ${maximum}.`);
  if (exclusiveMinimum !== undefined && value <= exclusiveMinimum) {
    return invalid(`It must be more than ${exclusiveMinimum}.`);
  }
  if (exclusiveMaximum !== undefined && value >= exclusiveMaximum) {
    return invalid(`It must be less than ${exclusiveMaximum}.`);
  }
  return multipleOf === undefined || isMultiple(value, multipleOf)
    ? valid(value)
    : invalid(`It must be a multiple of ${multipleOf}.`);
}

/** Tolerates rounding errors: 0.3 is a multiple of 0.1. */
function isMultiple(value: number, step: number): boolean {
  const times = value / step;
  return Math.abs(times - Math.round(times)) <= 1e-9 * Math.max(1, Math.abs(times));
}

function checkText(question: TextKind, value: unknown): CheckedAnswer {
  const { minLength, maxLength, pattern, format } = question;
  if (typeof value !== 'string') return invalid('It must be text.');
  const length = [...value].length;
  if (minLength !== undefined && length < minLength) {
    return invalid(`It must have at least ${minLength} characters.`);
  }
  if (maxLength !== undefined && length > maxLength) {
    return invalid(`It must have at most ${maxLength} characters.`);
  }
  if (format !== undefined && !hasFormat(format, value)) {
    return invalid(`It must have this format: ${exampleFor({ type: 'string', format })}`);
  }
  return pattern === undefined || matchesPattern(pattern, value)
    ? valid(value)
    : invalid(`It must match the pattern ${pattern}`);
}

function checkShape({ example, shape }: JsonKind, value: unknown): CheckedAnswer {
  const isWrong = (shape === 'object' && !isObject(value)) || (shape === 'array' && !Array.isArray(value));
  return isWrong ? invalid(`It must be a JSON ${shape}, such as: ${example}`) : valid(value);
}

function valid(value: unknown): CheckedAnswer {
  return { ok: true, value };
}

function invalid(message: string): CheckedAnswer {
  return { ok: false, message };
}

/** Longer texts are never valid addresses or dates. */
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

/** Checks only the parts that every address has. */
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
  // `Date` turns February 30 into a day in March.
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}

const TIME = /^(?:[01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|60)(?:\.\d{1,9})?(?:z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/i;

function isDateTime(text: string): boolean {
  return isDate(text.slice(0, 10)) && /^[Tt]$/.test(text.charAt(10)) && TIME.test(text.slice(11));
}
