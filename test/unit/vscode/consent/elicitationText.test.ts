import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { argumentQuestions } from '../../../../src/mcp/schema/arguments.ts';
import { describeAnswer, describeForm, describeUrl } from '../../../../src/vscode/consent/elicitationText.ts';

const questions = argumentQuestions({
  properties: {
    name: { type: 'string', title: 'Your $(name)' },
    gift: { type: 'boolean' },
    colour: { type: 'string', oneOf: [{ const: 'r', title: 'Red' }, { const: 'b' }] },
    extras: { type: 'array', items: { anyOf: [{ const: 'x', title: 'Cherries' }, { const: 'y' }] } },
    size: { type: 'integer' },
  },
});

describe('the dialog before a server’s form', () => {
  test('shows the server’s text with invisible characters, and the fields', () => {
    const text = describeForm('Who\u202e are you?', questions);
    assert.match(
      text,
      /^It says:\nWho⟦U\+202E⟧ are you\?\n\nIt asks for: Your \$ \(name\), gift, colour, extras, size\.\n/,
    );
  });

  test('long words are cut, many fields are counted', () => {
    const many = argumentQuestions({
      properties: Object.fromEntries(Array.from({ length: 25 }, (_, at) => [`f${at}`, { type: 'string' }])),
    });
    const text = describeForm('a'.repeat(100_000), many);
    assert.match(text, /^It says:\na{2000}…\n\nIt asks for: f0, .*, f19, and 5 more\.\n/);
  });

  test('shows only the text of a form without fields', () => {
    assert.equal(describeForm('Shall I?', []), 'It says:\nShall I?');
  });

  test('shows the real host on a line of its own', () => {
    const text = describeUrl('Pay.', new URL('https://p\u0430ypal.com/https://paypal.com/?a=1'));
    assert.match(text, /\nHost:\nxn--pypal-4ve\.com\n/);
    assert.match(text, /\nWhole address:\nhttps:\/\/xn--pypal-4ve\.com\/https:\/\/paypal\.com\/\?a=1\n/);
  });
});

describe('an answer in the list of answers', () => {
  const cases: readonly [string, unknown, string][] = [
    ['name', 'Ada [x](command:y)', 'Ada [x] (command:y)'],
    ['name', undefined, '(left out)'],
    ['gift', true, 'Yes'],
    ['gift', false, 'No'],
    ['colour', 'r', 'Red'],
    ['colour', 'b', 'b'],
    ['extras', ['y', 'x'], 'Cherries, y'],
    ['extras', [], '(none)'],
    ['size', 3, '3'],
  ];
  for (const [name, value, expected] of cases) {
    test(`${name}: ${JSON.stringify(value)}`, () => {
      const question = questions.find((each) => each.name === name);
      assert.ok(question);
      assert.equal(describeAnswer(question, value), expected);
    });
  }
});
