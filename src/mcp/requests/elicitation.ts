import type { ElicitResult } from '@modelcontextprotocol/client';
import { field, isObject } from '../../base/json.ts';
import type { Elicitation, ElicitationAnswer } from '../../ports/servers.ts';
import { refusalReason } from '../config/networkReach.ts';
import { type ArgumentQuestion, isAnswer } from '../schema/answer.ts';
import { argumentQuestions, withPatterns } from '../schema/arguments.ts';
import { schemaProblem } from '../schema/schemaLimits.ts';

/** Parses the params of `elicitation/create`. Throws if they are not supported. */
export function readElicitation(params: unknown): Elicitation {
  const mode = field(params, 'mode') ?? 'form';
  const message = field(params, 'message');
  if (typeof message !== 'string') throw new Error('An elicitation needs a “message”.');
  if (mode === 'form') return { kind: 'form', message, schema: readSchema(field(params, 'requestedSchema')) };
  if (mode !== 'url') throw new Error('The mode of an elicitation must be “form” or “url”.');
  const url = field(params, 'url');
  const id = field(params, 'elicitationId');
  if (typeof url !== 'string') throw new Error('An elicitation with the mode “url” needs a “url”.');
  return { kind: 'url', message, url, ...(typeof id === 'string' ? { id } : {}) };
}

/**
 * The result for the server: only requested fields with valid values. A missing field gets its default; a field that is
 * present but undefined was left empty by the user.
 */
export async function writeElicitationAnswer(
  answer: ElicitationAnswer,
  elicitation: Elicitation,
): Promise<ElicitResult> {
  if (answer.action !== 'accept' || elicitation.kind === 'url') return { action: answer.action };
  const { content = {} } = answer;
  const questions = await withPatterns(argumentQuestions(elicitation.schema));
  const fields = questions.flatMap((question) => {
    const { name } = question;
    const value = Object.hasOwn(content, name) ? content[name] : question.default;
    return isAllowed(question, value) ? [[name, value] as const] : [];
  });
  const missing = questions.find(
    ({ name, required }) => required && !fields.some(([given]) => given === name),
  );
  if (missing) throw new Error(`The answer has no value for “${missing.name}”, which the server requires.`);
  return { action: 'accept', content: Object.fromEntries(fields) };
}

type FieldValue = NonNullable<ElicitResult['content']>[string];

function readSchema(schema: unknown): unknown {
  if (!isObject(schema) || !isObject(field(schema, 'properties'))) {
    throw new Error('A form needs a “requestedSchema” for an object with properties.');
  }
  const problem = schemaProblem(schema);
  if (problem !== undefined) throw new Error(`The “requestedSchema” cannot be used: it ${problem}.`);
  const nested = argumentQuestions(schema).find(({ kind }) => kind === 'json');
  if (nested) {
    throw new Error(
      `The field “${nested.name}” is not supported: forms can contain texts, numbers, yes or no, and choices.`,
    );
  }
  return schema;
}

function isAllowed(question: ArgumentQuestion, value: unknown): value is FieldValue {
  // An empty text omits the field, unless it is the default.
  if (value === '' && question.kind === 'text' && question.default !== '') return false;
  return isFieldValue(value) && isAnswer(question, value);
}

function isFieldValue(value: unknown): value is FieldValue {
  if (Array.isArray(value)) return value.every((each) => typeof each === 'string');
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}

/** Longer URLs cannot be shown completely, so they must not be opened. */
const MAX_URL_CHARS = 4000;

/** Parses the URL of an elicitation. Throws if it must not be opened. */
export function checkElicitationUrl(text: string): URL {
  if (text.length > MAX_URL_CHARS)
    throw new Error('The address is too long to be shown, so it cannot be opened.');
  if (!URL.canParse(text)) throw new Error('The address is not a URL.');
  const url = new URL(text);
  const reason = refusalReason(url);
  if (reason !== undefined) throw new Error(`The address cannot be opened: ${reason}.`);
  return url;
}
