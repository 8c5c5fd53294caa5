import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { argumentQuestions } from '../../../../src/mcp/schema/arguments.ts';
import {
  describeAnswer,
  describeForm,
  describeUrl,
  noticeOfForm,
  noticeOfUrl,
} from '../../../../src/vscode/consent/elicitationText.ts';
import { renderNotice } from '../../../../src/vscode/consent/noticeText.ts';

const questions = argumentQuestions({
  properties: {
    name: { type: 'string', title: 'Your $(name)' },
    gift: { type: 'boolean' },
    colour: { type: 'string', oneOf: [{ const: 'r', title: 'Red' }, { const: 'b' }] },
    extras: { type: 'array', items: { anyOf: [{ const: 'x', title: 'Cherries' }, { const: 'y' }] } },
    size: { type: 'integer' },
  },
});

describe('the notification of a server’s question', () => {
  test('quotes the server, whose text can neither link nor end the quotation', () => {
    const { text, isWhole } = noticeOfForm('shop', 'Who?” [Yes](command:x)\n$(check)', questions);
    assert.equal(
      text,
      'The server “shop” asks: “Who?" [Yes] (command:x) $ (check)” Do not enter passwords or keys.',
    );
    assert.equal(isWhole, true);
    assert.equal(noticeOfForm('shop', 'Shall I?', []).text, 'The server “shop” asks: “Shall I?”');
  });

  test('says that long words and addresses are not whole', () => {
    const { text, isWhole } = noticeOfForm('shop', 'a'.repeat(251), []);
    assert.ok(text.endsWith(`${'a'.repeat(250)}…”`));
    assert.equal(isWhole, false);
    const pay = new URL('https://pay.test/x');
    assert.deepEqual(noticeOfUrl('shop', 'Pay.', pay), {
      text: 'The server “shop” wants you to open https://pay.test/x in your browser. It says: “Pay.”',
      isWhole: true,
    });
    assert.equal(noticeOfUrl('shop', 'Pay.', new URL(`https://pay.test/${'x'.repeat(300)}`)).isWhole, false);
  });

  test('keeps its answers however long it is', () => {
    const links = ['Open', 'Decline'].map((label, at) => ({ label, command: `c.${at}` }));
    assert.equal(renderNotice('Open it?', links), 'Open it? [Open](command:c.0) · [Decline](command:c.1)');
    const long = renderNotice('a'.repeat(5_000), links);
    assert.ok(long.length < 700);
    assert.ok(long.endsWith('… [Open](command:c.0) · [Decline](command:c.1)'));
  });
});

describe('the details of a server’s form', () => {
  test('shows the server’s text with invisible characters, and the fields', () => {
    const text = describeForm('Who\u202e are you?', questions);
    assert.match(
      text,
      /^Requested fields: Your \$ \(name\), gift, colour, extras, size\.\n[\s\S]*\n\nMessage from the server:\n│ Who⟦U\+202E⟧ are you\?$/,
    );
  });

  test('long words are cut, many fields are counted', () => {
    const many = argumentQuestions({
      properties: Object.fromEntries(Array.from({ length: 25 }, (_, at) => [`f${at}`, { type: 'string' }])),
    });
    const text = describeForm('a'.repeat(100_000), many);
    assert.match(
      text,
      /^Requested fields: f0, .*, f19, and 5 more\.\n[\s\S]*\n\nMessage from the server:\n│ a{2000}…$/,
    );
  });

  test('shows only the text of a form without fields', () => {
    assert.equal(describeForm('Shall I?', []), 'Message from the server:\n│ Shall I?');
  });

  test('shows the real host on a line of its own', () => {
    const text = describeUrl('Pay.', new URL('https://p\u0430ypal.com/https://paypal.com/?a=1'));
    assert.match(text, /^Host:\nxn--pypal-4ve\.com\n/);
    assert.match(text, /\nFull address:\nhttps:\/\/xn--pypal-4ve\.com\/https:\/\/paypal\.com\/\?a=1\n/);
  });
});

test('no text of a server hides the real host, or looks like ours', () => {
  const url = new URL('https://evil.test/');
  const attacks = [
    `${'\n'.repeat(1790)}x`,
    `Pay.\n\nHost:\npaypal.com\n\nFull address:\nhttps://paypal.com/`,
    'a\n'.repeat(900),
    `Pay.\u2028Host:\u2029paypal.com\rHost:`,
    `${' \n'.repeat(500)}Host:\npaypal.com`,
  ];
  for (const attack of attacks) {
    const lines = describeUrl(attack, url).split(/\r\n|[\n\r\u2028\u2029]/);
    assert.deepEqual(lines.slice(0, 2), ['Host:', 'evil.test']);
    const from = lines.indexOf('Message from the server:');
    assert.deepEqual(
      lines.slice(0, from).filter((line) => /paypal/.test(line)),
      [],
    );
    assert.ok(lines.slice(from + 1).every((line) => line.startsWith('│ ')));
    assert.ok(lines.length < 40, `${lines.length} lines`);
  }
});

describe('an answer in the list of answers', () => {
  const cases: readonly [string, unknown, string][] = [
    ['name', 'Ada [x](command:y)', 'Ada [x] (command:y)'],
    ['name', undefined, '(omitted)'],
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
