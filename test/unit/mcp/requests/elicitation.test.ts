import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  checkElicitationUrl,
  readElicitation,
  writeElicitationAnswer,
} from '../../../../src/mcp/requests/elicitation.ts';
import type { Elicitation, ElicitationAnswer } from '../../../../src/ports/servers.ts';

const form = (properties: object, required: readonly string[] = []): Elicitation => ({
  kind: 'form',
  message: 'Who?',
  schema: { type: 'object', properties, required },
});

describe('the parameters of an elicitation', () => {
  const requestedSchema = { type: 'object', properties: { a: { type: 'string' } } };
  const expectedForm: Elicitation = { kind: 'form', message: 'm', schema: requestedSchema };
  const url = { message: 'm', url: 'https://a.test/' };
  const cases: readonly [string, unknown, Elicitation][] = [
    ['a form', { message: 'm', requestedSchema }, expectedForm],
    ['a form with its mode', { mode: 'form', message: 'm', requestedSchema }, expectedForm],
    ['a URL', { ...url, mode: 'url', elicitationId: 'e1' }, { ...url, kind: 'url', id: 'e1' }],
    ['a URL without an id, as in the newest revision', { ...url, mode: 'url' }, { ...url, kind: 'url' }],
  ];
  for (const [name, params, expected] of cases) {
    test(name, () => assert.deepEqual(readElicitation(params), expected));
  }

  const wrong: readonly [string, unknown, RegExp][] = [
    ['nothing', undefined, /message/],
    ['a message that is not text', { message: 5, requestedSchema }, /message/],
    ['no schema', { message: 'm' }, /requestedSchema/],
    [
      'a schema that is not for an object',
      { message: 'm', requestedSchema: { type: 'string' } },
      /requestedSchema/,
    ],
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

describe('the answer to an elicitation', () => {
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
      'given values, and no default for fields that were left empty',
      accept({ text: 'Ada', whole: undefined, several: [] }),
      defaults,
      {
        action: 'accept',
        content: { number: 95.5, choice: 'on', yes: true, text: 'Ada', several: [], empty: '' },
      },
    ],
    [
      'no fields that were not requested',
      accept({ a: 'x', b: 'y' }),
      form({ a: { type: 'string' } }),
      { action: 'accept', content: { a: 'x' } },
    ],
    [
      'no values that do not match their pattern',
      accept({ a: 'x', b: 'y' }),
      form({ a: { type: 'string', pattern: '^(x+)+$' }, b: { type: 'string', pattern: '^x$' } }),
      { action: 'accept', content: { a: 'x' } },
    ],
    [
      'no values that the schema forbids',
      accept({ a: 5, b: 'often', c: null, d: 'x' }),
      form({
        a: { type: 'string' },
        b: { type: 'integer' },
        c: { type: ['string', 'null'] },
        d: { type: 'string' },
      }),
      { action: 'accept', content: { d: 'x' } },
    ],
    ['no content when the user declines', { action: 'decline' }, defaults, { action: 'decline' }],
    ['no content when the user cancels', { action: 'cancel' }, defaults, { action: 'cancel' }],
    [
      'no content with a URL',
      accept({ a: 'x' }),
      { kind: 'url', message: 'm', url: 'https://a.test/' },
      { action: 'accept' },
    ],
  ];
  for (const [name, answer, elicitation, expected] of cases) {
    test(name, async () => assert.deepEqual(await writeElicitationAnswer(answer, elicitation), expected));
  }

  test('an answer without a required value is rejected', async () => {
    const asked = form({ a: { type: 'integer' } }, ['a']);
    await assert.rejects(
      writeElicitationAnswer(accept({ a: 'five' }), asked),
      /“a”, which the server requires/,
    );
  });

  test('a field can have any name', async () => {
    const asked: Elicitation = {
      kind: 'form',
      message: 'm',
      schema: JSON.parse('{"properties":{"__proto__":{"type":"string"},"toString":{"type":"string"}}}'),
    };
    assert.deepEqual(await writeElicitationAnswer(accept({}), asked), { action: 'accept', content: {} });
    const { content } = await writeElicitationAnswer(accept(JSON.parse('{"__proto__":"x"}')), asked);
    assert.equal(JSON.stringify(content), '{"__proto__":"x"}');
  });
});

describe('the URL of an elicitation', () => {
  const opened: readonly [string, string][] = [
    ['https://example.com/a?b=c%26d#e', 'https://example.com/a?b=c%26d#e'],
    ['http://localhost:8080/x', 'http://localhost:8080/x'],
    ['http://127.0.0.1/', 'http://127.0.0.1/'],
    ['http://2130706433/', 'http://127.0.0.1/'],
    ['http://[::1]:1/', 'http://[::1]:1/'],
    ['https://10.0.0.1/', 'https://10.0.0.1/'],
    // A letter that only looks like an a.
    ['https://p\u0430ypal.com/', 'https://xn--pypal-4ve.com/'],
    ['https://example.com/\u202egnp', 'https://example.com/%E2%80%AEgnp'],
  ];
  for (const [given, expected] of opened) {
    test(`opened: ${given}`, () => assert.equal(checkElicitationUrl(given).href, expected));
  }

  const refused: Readonly<Record<string, string>> = {
    'only https is allowed':
      'javascript:alert(1) file:///etc/passwd data:text/html,x vscode://filechat/x command:filechat.run',
    'not a URL': 'example.com ',
    'contains a user name': 'https://example.com@evil.test/',
    'not be encrypted':
      'http://example.com/ http://localhost.example.com/ http://127.example.com/ http://10.0.0.1/',
    'credentials of this machine':
      'https://169.254.169.254/latest http://0xa9fea9fe/ https://[::ffff:169.254.169.254]/ https://[fe80::1]/ ' +
      'https://[fd00:ec2::254]/ https://metadata.google.internal./ http://0.0.0.0/ http://[::]/',
    'too long': `https://example.com/${'a'.repeat(5000)}`,
  };
  for (const [reason, urls] of Object.entries(refused)) {
    for (const url of urls.split(' ')) {
      test(`refused, because ${reason}: ${url.slice(0, 50)}`, () =>
        assert.throws(() => checkElicitationUrl(url), new RegExp(reason)));
    }
  }
});
