import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  type FieldRule,
  fieldProblems,
  findFields,
  findFieldsInText,
  readFieldRules,
} from '../../../src/result/findBytes.ts';

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
    "$['content']": 'A',
    '$["pages"][0]["image"].data': 'B',
    '$..data': '',
    'pages[?(@.image)].image.data': '',
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

it('a path that is not supported is named', () => {
  const paths = [
    '$..image',
    'pages[?(@.n > 1)].image',
    'pages[0:2].image',
    'pages[-1]',
    "x['a','b']",
    'a..b',
    '$',
  ];
  const good = ['$.a', 'a[].b', 'a[*]', "a['b c']", '@id', 'a-b.c d'];
  const problems = fieldProblems([...paths, ...good].map((path) => ({ path })));
  assert.deepEqual(
    problems.map((each) => /“(.*)”/.exec(each)?.[1]),
    paths,
  );
  assert.equal(
    problems[0],
    'The path “$..image” is not supported. Separate names with dots, and use [] for the items of a list, such as pages[].image.',
  );
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
