import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { expandTemplate, fillTemplate, readVariables } from '../../../src/base/uriTemplate.ts';
import { anySign } from '../../kit/anySign.ts';

const VALUES = {
  var: 'value',
  hello: 'Hello World!',
  path: '/foo/bar',
  x: '1024',
  y: '768',
  empty: '',
  list: 'red,green',
};

describe('expanding a template', () => {
  const cases: Record<string, string> = {
    '{var}': 'value',
    '{hello}': 'Hello%20World%21',
    '{+hello}': 'Hello%20World!',
    '{+path}/here': '/foo/bar/here',
    '{path}/here': '%2Ffoo%2Fbar/here',
    'X{#var}': 'X#value',
    '{x,hello,y}': '1024,Hello%20World%21,768',
    '{#x,hello,y}': '#1024,Hello%20World!,768',
    'X{.var}': 'X.value',
    '{/var,x}/here': '/value/1024/here',
    '{/list*}': '/red/green',
    '{;x,y,empty}': ';x=1024;y=768;empty',
    '{?x,y,empty}': '?x=1024&y=768&empty=',
    '?fixed=yes{&x}': '?fixed=yes&x=1024',
    '{?undef,x}': '?x=1024',
    'a{undef}b': 'ab',
    '{var:3}': 'val',
    '{var:30}': 'value',
    'no blanks': 'no blanks',
    '{}': '{}',
  };
  for (const [template, filled] of Object.entries(cases)) {
    it(template, () => assert.equal(expandTemplate(template, VALUES), filled));
  }

  it('keeps percent escapes where reserved characters are kept', () => {
    assert.equal(expandTemplate('{+a}', { a: '%20[x] %' }), '%20[x]%20%25');
  });

  it('takes no value from the prototype', () => assert.equal(expandTemplate('a{toString}', {}), 'a'));

  it('never throws, and a simple value adds no reserved character', () => {
    fc.assert(
      fc.property(fc.string({ unit: anySign }), fc.string({ unit: anySign }), (template, value) => {
        readVariables(template);
        expandTemplate(template, { a: value });
        assert.match(expandTemplate('{a}', { a: value }), /^[A-Za-z0-9._~%-]*$/);
      }),
    );
  });
});

it('variables are listed once, in order; those of a query are optional', () => {
  assert.deepEqual(readVariables('demo://{b}/{a:3}/{b}{?c*,d}'), [
    { name: 'b', required: true },
    { name: 'a', required: true },
    { name: 'c', required: false },
    { name: 'd', required: false },
  ]);
});

describe('filling in a template', () => {
  it('leaves an address as it is', () =>
    assert.equal(fillTemplate('a://b?c=%7B#d', { x: 1 }), 'a://b?c=%7B#d'));

  it('takes values that are not text', () => {
    assert.equal(fillTemplate('a://{b}/{c}{?d}', { b: 1, c: true }), 'a://1/true');
  });

  it('names the values that are missing', () => {
    const message = 'a://{b}/{c}{?d} is a template. Give values in its arguments for: b, c.';
    assert.throws(() => fillTemplate('a://{b}/{c}{?d}', { d: 'x' }), { message });
  });
});
