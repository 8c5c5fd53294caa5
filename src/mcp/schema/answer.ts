import { isObject, parseJson } from '../../base/json.ts';
import { visibleLine } from '../../base/lines.ts';
import { exampleFor } from './example.ts';
import { printJson } from './walk.ts';

/** A question to the user for one argument of a tool or one field of a form. */
export type ArgumentQuestion = QuestionKind & {
  readonly name: string;
  readonly title: string;
  readonly description?: string;
  readonly required: boolean;
  /** Whether null is allowed; an empty answer to a required question then means null. */
  readonly nullable: boolean;
  /** The schema's default, if it is a valid answer. */
  readonly default?: unknown;
};

export type QuestionKind =
  | { readonly kind: 'choice'; readonly choices: readonly AnswerChoice[] }
  | {
      readonly kind: 'choices';
      readonly choices: readonly AnswerChoice[];
      readonly minItems?: number;
      readonly maxItems?: number;
      readonly unique: boolean;
    }
  | { readonly kind: 'yesNo' }
  | {
      readonly kind: 'number';
      readonly integer: boolean;
      readonly minimum?: number;
      readonly maximum?: number;
      readonly exclusiveMinimum?: number;
      readonly exclusiveMaximum?: number;
      readonly multipleOf?: number;
    }
  | {
      readonly kind: 'text';
      readonly minLength?: number;
      readonly maxLength?: number;
      readonly pattern?: string;
      /** Checks the pattern; added by `withPatterns`. */
      readonly matches?: (text: string) => boolean;
      readonly format?: TextFormat;
    }
  | {
      readonly kind: 'json';
      readonly example: string;
      readonly shape?: 'object' | 'array';
      /** Whether input that is not JSON is taken as a string. */
      readonly allowsText: boolean;
    };

export interface AnswerChoice {
  readonly value: unknown;
  /** The typed form of the value, unique within the question. */
  readonly text: string;
  readonly label: string;
}

type KindOf<Kind extends QuestionKind['kind']> = Extract<QuestionKind, { kind: Kind }>;
export type ChoicesQuestion = Extract<ArgumentQuestion, { kind: 'choices' }>;

export type CheckedAnswer =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly message: string };

/** Parses and checks a typed answer. An empty answer omits an optional argument: its value is undefined. */
export function checkAnswer(question: ArgumentQuestion, text: string): CheckedAnswer {
  if (question.kind === 'text' ? text === '' : text.trim() === '') return checkEmpty(question);
  const parsed = parseAnswer(question, text);
  const message = parsed.ok ? answerProblem(question, parsed.value) : parsed.message;
  return message === undefined ? parsed : { ok: false, message: shortLine(message) };
}

const MAX_MESSAGE_CHARS = 500;

/** Messages quote choices, patterns and examples, which are the words of a server. */
function shortLine(message: string): string {
  const line = visibleLine(message.slice(0, 2 * MAX_MESSAGE_CHARS));
  return line.length <= MAX_MESSAGE_CHARS ? line : `${line.slice(0, MAX_MESSAGE_CHARS)}…`;
}

/** Whether a value that was not typed, such as a default, is an answer to the question. */
export function isAnswer(question: ArgumentQuestion, value: unknown): boolean {
  const isEmpty = value === null ? question.nullable : value === '' && question.kind === 'text';
  // A value that cannot be printed, such as a circular object, could not be shown or sent.
  if (!isEmpty) return printJson(value) !== undefined && answerProblem(question, value) === undefined;
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
  return question.kind === 'text' && question.default === ''
    ? valid('')
    : { ok: false, message: 'A value is required.' };
}

/** Text that means nothing in its place becomes undefined, which `answerProblem` rejects. */
function parseAnswer(question: ArgumentQuestion, text: string): CheckedAnswer {
  switch (question.kind) {
    case 'choice':
      return valid(findChoice(question.choices, text)?.value);
    case 'choices':
      return valid(parseChoices(question.choices, text));
    case 'yesNo': {
      const word = text.trim().toLowerCase();
      return valid(YES.includes(word) || (NO.includes(word) ? false : undefined));
    }
    case 'number':
      return valid(NUMBER.test(text.trim()) ? Number(text) : undefined);
    case 'text':
      return valid(text);
    case 'json':
      return parseJsonAnswer(question, text);
  }
}

const YES = ['true', 'yes', 'y', '1'];
const NO = ['false', 'no', 'n', '0'];
const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;

/** A JSON list, or names separated by commas. */
function parseChoices(choices: readonly AnswerChoice[], text: string): readonly unknown[] {
  const items = parseJson(text);
  const found = Array.isArray(items)
    ? items.map((item) => choiceOf(choices, item))
    : [findChoice(choices, text)];
  const named = found.includes(undefined)
    ? text.split(',').map((name) => findChoice(choices, name.trim()))
    : found;
  return named.map((choice) => choice?.value);
}

/** The items of a list may be typed without its brackets. */
function parseJsonAnswer({ example, allowsText, shape }: KindOf<'json'>, text: string): CheckedAnswer {
  const isBare = shape === 'array' && !allowsText && !/^\s*[[{]/.test(text);
  try {
    return valid(JSON.parse(isBare ? `[${text}]` : text));
  } catch (error) {
    // Some messages end with the text, which the user sees anyway.
    const reason = (error as Error).message.replace(/, (?:\.\.\.)?".* is not valid JSON$/s, '');
    const message = `This is not valid JSON: ${reason}. Example: ${example}`;
    return allowsText ? valid(text) : { ok: false, message };
  }
}

function valid(value: unknown): CheckedAnswer {
  return { ok: true, value };
}

/** Why the value is not an answer to the question, in one sentence. */
function answerProblem(question: ArgumentQuestion, value: unknown): string | undefined {
  switch (question.kind) {
    case 'choice':
      return choiceOf(question.choices, value)
        ? undefined
        : `Choose one of: ${listChoices(question.choices)}`;
    case 'choices':
      return choicesProblem(question, value);
    case 'yesNo':
      return typeof value === 'boolean' ? undefined : 'Answer yes or no.';
    case 'number':
      return numberProblem(question, value);
    case 'text':
      return textProblem(question, value);
    case 'json':
      return shapeProblem(question, value);
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

function choicesProblem(question: KindOf<'choices'>, value: unknown): string | undefined {
  const { choices, minItems = 0, maxItems = Number.POSITIVE_INFINITY, unique } = question;
  const known = new Set(choices.map((choice) => printJson(choice.value)));
  if (!Array.isArray(value) || !value.every((item) => known.has(printJson(item)))) {
    return `Choose from: ${listChoices(choices)}`;
  }
  if (unique && new Set(value.map(printJson)).size < value.length) return 'Choose each item only once.';
  if (value.length < minItems) return `Choose at least ${minItems}.`;
  return value.length > maxItems ? `Choose at most ${maxItems}.` : undefined;
}

function numberProblem(question: KindOf<'number'>, value: unknown): string | undefined {
  const { integer, minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = question;
  if (typeof value !== 'number' || !Number.isFinite(value)) {
    return integer ? 'Type a whole number, such as 3.' : 'Type a number, such as 3 or 0.5.';
  }
  if (integer && !Number.isInteger(value)) return 'Type a whole number.';
  if (integer && !Number.isSafeInteger(value)) return 'This number is too large to be exact.';
  if (minimum !== undefined && value < minimum) return `It must be at least ${minimum}.`;
  if (maximum !== undefined && value > maximum) return `It must be at most ${maximum}.`;
  if (exclusiveMinimum !== undefined && value <= exclusiveMinimum) {
    return `It must be more than ${exclusiveMinimum}.`;
  }
  if (exclusiveMaximum !== undefined && value >= exclusiveMaximum) {
    return `It must be less than ${exclusiveMaximum}.`;
  }
  return multipleOf === undefined || isMultiple(value, multipleOf)
    ? undefined
    : `It must be a multiple of ${multipleOf}.`;
}

/** Tolerates rounding errors: 0.3 is a multiple of 0.1. */
function isMultiple(value: number, step: number): boolean {
  const times = value / step;
  return Math.abs(times - Math.round(times)) <= 1e-9 * Math.max(1, Math.abs(times));
}

function textProblem(question: KindOf<'text'>, value: unknown): string | undefined {
  const { minLength = 0, maxLength = Number.POSITIVE_INFINITY, pattern, matches, format } = question;
  if (typeof value !== 'string') return 'It must be text.';
  const length = [...value].length;
  if (length < minLength) return `It must have at least ${minLength} characters.`;
  if (length > maxLength) return `It must have at most ${maxLength} characters.`;
  if (format !== undefined && !hasFormat(format, value)) {
    return `It must have this format: ${exampleFor({ type: 'string', format })}`;
  }
  return matches === undefined || matches(value) ? undefined : `It must match the pattern ${pattern}`;
}

function shapeProblem({ example, shape }: KindOf<'json'>, value: unknown): string | undefined {
  const isWrong = (shape === 'object' && !isObject(value)) || (shape === 'array' && !Array.isArray(value));
  return isWrong ? `It must be a JSON ${shape}, such as: ${example}` : undefined;
}

/** Longer texts are never valid addresses or dates. */
const MAX_CHARS = 10_000;

const CHECKS = {
  email: isEmail,
  uri: isUri,
  date: isDate,
  'date-time': isDateTime,
};

/** Formats that are checked in the editor; the server checks others. */
export type TextFormat = keyof typeof CHECKS;

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
