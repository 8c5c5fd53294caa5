import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  type FieldRule,
  findFields,
  findFieldsInText,
  readFieldRules,
} from '../../../src/result/findBytes.ts';
import { applyTransform } from '../../../src/result/process.ts';

describe('a path finds', () => {
  const value = {
    content: 'A',
    name: 'Sales',
    pages: [{ image: { data: 'B' } }, { image: { data: 'C' } }, { image: 7 }],
    files: { x: { data: 'D' }, y: { data: 'E' } },
    rows: [['F', 'G']],
  };
  const cases: Readonly<Record<string, string>> = {
    content: 'A',
    $: '',
    '$.content': 'A',
    'pages[].image.data': 'BC',
    'pages[*].image.data': 'BC',
    'pages.*.image.data': 'BC',
    'pages[1].image.data': 'C',
    'files.*.data': 'DE',
    'rows[][]': 'FG',
    'pages[].image': '',
    'nothing.at.all': '',
    'constructor.name': '',
    '__proto__.x': '',
    '': '',
  };
  for (const [path, expected] of Object.entries(cases)) {
    it(`${path} → ${expected || 'nothing'}`, () => {
      const hits = findFields(value, [{ path }]);
      assert.equal(hits.map(({ data }) => data).join(''), expected);
    });
  }

  it('the type by its extension, and the words with their neighbours', () => {
    const rule = {
      path: 'content',
      type: 'pdf',
      summary: "Workbook '{name}' as {type}, {size} {ref} {pages}",
    };
    assert.deepEqual(findFields(value, [rule]), [
      { data: 'A', declared: 'application/pdf', summary: "Workbook 'Sales' as {type}, {size} {ref} {pages}" },
    ]);
  });
});

describe('in a text that is JSON', () => {
  const rules: readonly FieldRule[] = [{ path: 'a' }, { path: 'b[].c' }];
  const show = (text: string) =>
    findFieldsInText(text, rules)
      .map((piece) => (typeof piece === 'string' ? piece : `<${piece.data}>`))
      .join('');
  const cases: Readonly<Record<string, string>> = {
    '{ "a": "QUI=", "n": 1.0, "big": 12345678901234567890 }':
      '{ "a": "<QUI=>", "n": 1.0, "big": 12345678901234567890 }',
    '{"b":[{"c":"QQ=="},{"c":"QQ=="}]}': '{"b":[{"c":"<QQ==>"},{"c":"<QQ==>"}]}',
    '{"a":"QQ\\/\\/"}': '{"a":"<QQ//>"}',
    '{"a":': '{"a":',
    a: 'a',
  };
  for (const [text, expected] of Object.entries(cases)) {
    it(text, () => assert.equal(show(text), expected));
  }
});

it('the setting may contain anything', () => {
  const tool = { server: 's', tool: 't' };
  const rule = { path: 'a', type: 'pdf', summary: 'x' };
  assert.deepEqual(readFieldRules({ 's.t': [rule, { path: 'b' }, { path: 7 }, null, 'x'] }, tool), [
    rule,
    { path: 'b' },
  ]);
  fc.assert(
    fc.property(fc.anything(), (setting) => {
      assert.deepEqual(readFieldRules(setting, tool), []);
      readFieldRules({ 's.t': setting }, tool);
      readFieldRules({ 's.t': [setting] }, tool);
    }),
  );
});

describe('the transformer', () => {
  const tool = { server: 's', tool: 't' };
  const original = { content: [] };
  const failed = (reason: string) => ({
    result: original,
    problem: `Your transformer failed on s.t: ${reason}. The result is shown as the server sent it.`,
  });
  const cases: Readonly<Record<string, [transform: () => unknown, expected: object]>> = {
    'its return value is used': [async () => 'other', { result: 'other' }],
    'it need not be async': [() => 'other', { result: 'other' }],
    'nothing means no change': [async () => undefined, { result: original }],
    'a throw is a problem': [
      () => {
        throw new Error('no');
      },
      failed('no'),
    ],
    'a rejection is a problem': [() => Promise.reject(new Error('later')), failed('later')],
    'a timeout is a problem': [
      () => new Promise(() => undefined),
      failed('it took longer than 0.02 seconds'),
    ],
  };
  for (const [name, [transform, expected]] of Object.entries(cases)) {
    it(name, async () => assert.deepEqual(await applyTransform(original, transform, tool, 20), expected));
  }
});
