import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { argumentsSnippet } from '../../../../src/mcp/callArguments/schema.ts';

describe('the arguments of a new call', () => {
  const cases: Record<string, [schema: unknown, expected: string]> = {
    'nothing is known': [undefined, '{$1}'],
    'nothing is required': [{ properties: { a: { type: 'string' } } }, '{$1}'],
    'texts keep their quotes': [
      { properties: { a: { type: 'string' } }, required: ['a'] },
      `{"a": "\${1:text}"}`,
    ],
    'examples by type': [
      {
        properties: {
          a: { type: 'number' },
          b: { type: 'array', items: { type: 'integer' } },
          c: { type: 'boolean' },
        },
        required: ['a', 'b', 'c'],
      },
      `{\n  "a": \${1:0},\n  "b": \${2:[0]},\n  "c": \${3:false}\n}`,
    ],
    'a choice': [{ properties: { a: { enum: ['x', 'y'] } }, required: ['a'] }, `{"a": "\${1|x,y|}"}`],
    'an object': [
      { properties: { a: { type: 'object', properties: { b: { type: 'string' } } } }, required: ['a'] },
      `{"a": \${1:{"b":"text"\\}}}`,
    ],
    'nothing of a server’s is a variable': [
      {
        properties: { $HOME: { default: `\${CLIPBOARD}` }, b: { enum: [`\${X}`, '|,'] } },
        required: ['$HOME', 'b'],
      },
      `{"\\$HOME": "\${1:\\\${CLIPBOARD\\}}", "b": "\${2:\\\${X\\}}"}`,
    ],
  };
  for (const [name, [schema, expected]] of Object.entries(cases)) {
    it(name, () => assert.equal(argumentsSnippet(schema), expected));
  }
});
