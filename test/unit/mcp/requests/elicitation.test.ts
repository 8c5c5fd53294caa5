import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readElicitation, writeElicitationAnswer } from '../../../../src/mcp/requests/elicitation.ts';
import type { Elicitation, ElicitationAnswer } from '../../../../src/ports/servers.ts';

const form = (properties: object, required: readonly string[] = []): Elicitation => ({
  kind: 'form',
  message: 'Who?',
  schema: { type: 'object', properties, required },
});

describe('what a server asks of the user is read', () => {
  const requestedSchema = { type: 'object', properties: { a: { type: 'string' } } };
  const cases: readonly [string, unknown, Elicitation][] = [
    ['a form', { message: 'm', requestedSchema }, { kind: 'form', message: 'm', schema: requestedSchema }],
    [
      'a form that says so',
      { mode: 'form', message: 'm', requestedSchema },
      { kind: 'form', message: 'm', schema: requestedSchema },
    ],
    [
      'an address',
      { mode: 'url', message: 'm', url: 'https://a.test/', elicitationId: 'e1' },
      { kind: 'url', message: 'm', url: 'https://a.test/', id: 'e1' },
    ],
    [
      'an address without an id, as the newest revision has it',
      { mode: 'url', message: 'm', url: 'https://a.test/' },
      { kind: 'url', message: 'm', url: 'https://a.test/' },
    ],
  ];
  for (const [name, params, expected] of cases) {
    test(name, () => assert.deepEqual(readElicitation(params), expected));
  }

  const wrong: readonly [string, unknown, RegExp][] = [
    ['nothing', undefined, /message/],
    ['a message that is none', { message: 5, requestedSchema }, /message/],
    ['no schema', { message: 'm' }, /requestedSchema/],
    ['a schema of no object', { message: 'm', requestedSchema: { type: 'string' } }, /requestedSchema/],
    ['another mode', { mode: 'video', message: 'm', requestedSchema }, /mode/],
    ['no address', { mode: 'url', message: 'm' }, /url/],
    [
      'a form within a form',
      { message: 'm', requestedSchema: { properties: { a: { type: 'object' } } } },
      /“a” is not supported/,
    ],
  ];
  for (const [name, params, message] of wrong) {
    test(`refused: ${name}`, () => assert.throws(() => readElicitation(params), message));
  }
});

describe('what the server gets', () => {
  const defaults = form({
    text: { type: 'string', default: 'John' },
    whole: { type: 'integer', default: 30 },
    number: { type: 'number', default: 95.5 },
    choice: { type: 'string', enum: ['on', 'off'], default: 'on' },
    yes: { type: 'boolean', default: true },
    several: { type: 'array', items: { type: 'string', enum: ['x', 'y'] }, default: ['x'] },
    empty: { type: 'string', default: '' },
    none: { type: 'string' },
    wrong: { type: 'integer', maximum: 3, default: 9 },
  });
  const filled = {
    text: 'John',
    whole: 30,
    number: 95.5,
    choice: 'on',
    yes: true,
    several: ['x'],
    empty: '',
  };
  const accept = (content?: Record<string, unknown>): ElicitationAnswer => ({
    action: 'accept',
    ...(content ? { content } : {}),
  });
  const cases: readonly [string, ElicitationAnswer, Elicitation, unknown][] = [
    ['defaults of every kind', accept({}), defaults, { action: 'accept', content: filled }],
    ['defaults without any content', accept(), defaults, { action: 'accept', content: filled }],
    [
      'what was given, and no default for what was left empty on purpose',
      accept({ text: 'Ada', whole: undefined, several: [] }),
      defaults,
      {
        action: 'accept',
        content: { number: 95.5, choice: 'on', yes: true, text: 'Ada', several: [], empty: '' },
      },
    ],
    [
      'nothing that was not asked for',
      accept({ a: 'x', b: 'y' }),
      form({ a: { type: 'string' } }),
      { action: 'accept', content: { a: 'x' } },
    ],
    [
      'nothing that the schema forbids',
      accept({ a: 5, b: 'often', c: null, d: 'x' }),
      form({
        a: { type: 'string' },
        b: { type: 'integer' },
        c: { type: ['string', 'null'] },
        d: { type: 'string' },
      }),
      { action: 'accept', content: { d: 'x' } },
    ],
    ['no content with a no', { action: 'decline' }, defaults, { action: 'decline' }],
    ['no content when the user went away', { action: 'cancel' }, defaults, { action: 'cancel' }],
    [
      'no content with an address',
      accept({ a: 'x' }),
      { kind: 'url', message: 'm', url: 'https://a.test/' },
      { action: 'accept' },
    ],
  ];
  for (const [name, answer, elicitation, expected] of cases) {
    test(name, () => assert.deepEqual(writeElicitationAnswer(answer, elicitation), expected));
  }

  test('an answer without what is required is none', () => {
    const asked = form({ a: { type: 'integer' } }, ['a']);
    assert.throws(
      () => writeElicitationAnswer(accept({ a: 'five' }), asked),
      /“a”, which the server requires/,
    );
  });

  test('a field of any name is an ordinary one', () => {
    const asked: Elicitation = {
      kind: 'form',
      message: 'm',
      schema: JSON.parse('{"properties":{"__proto__":{"type":"string"},"toString":{"type":"string"}}}'),
    };
    assert.deepEqual(writeElicitationAnswer(accept({}), asked), { action: 'accept', content: {} });
    const { content } = writeElicitationAnswer(accept(JSON.parse('{"__proto__":"x"}')), asked);
    assert.equal(JSON.stringify(content), '{"__proto__":"x"}');
  });
});
