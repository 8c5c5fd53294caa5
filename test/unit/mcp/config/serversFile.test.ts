import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseJsonWithComments } from '../../../../src/base/json.ts';
import {
  addToServersFile,
  findServer,
  removeFromServersFile,
} from '../../../../src/mcp/config/serversFile.ts';

const SERVER = { name: 'new', entry: { command: 'x', args: ['a'] } };
const ADDED = `"new": {
      "command": "x",
      "args": [
        "a"
      ]
    }`;

describe('a server is added, and the rest stays as it is written', () => {
  const cases: readonly [name: string, before: string, after: string][] = [
    ['to an empty file', '', `{\n  "servers": {\n    ${ADDED}\n  }\n}\n`],
    ['to an empty object', '{}', `{\n  "servers": {\n    ${ADDED}\n  }\n}`],
    ['to no servers', '{\n  "servers": {}\n}', `{\n  "servers": {\n    ${ADDED}\n  }\n}`],
    [
      'to others, with comments',
      '{\n  // mine\n  "servers": {\n    "old": { "command": "{,}" } // last\n  },\n  "inputs": []\n}\n',
      `{\n  // mine\n  "servers": {\n    "old": { "command": "{,}" }, // last\n    ${ADDED}\n  },\n  "inputs": []\n}\n`,
    ],
    [
      'after a trailing comma',
      '{\n  "servers": {\n    "old": {},\n  },\n}',
      `{\n  "servers": {\n    "old": {},\n    ${ADDED}\n  },\n}`,
    ],
    [
      'under the name of another host',
      '{\n  "mcpServers": {}\n}',
      `{\n  "mcpServers": {\n    ${ADDED}\n  }\n}`,
    ],
    [
      'in place of an old one',
      '{\n  "servers": {\n    "new": { "url": "y" }\n  }\n}',
      `{\n  "servers": {\n    ${ADDED}\n  }\n}`,
    ],
  ];
  for (const [name, before, after] of cases) {
    test(name, () => {
      const file = addToServersFile(before, SERVER);
      assert.equal(file, after);
      parseJsonWithComments(file);
    });
  }

  test('with the definitions of its inputs, each once', () => {
    const inputs = [{ id: 'a' }, { id: 'b' }];
    const once = addToServersFile('{"inputs": [{"id": "a"}]}', { ...SERVER, inputs });
    const json = parseJsonWithComments(addToServersFile(once, { ...SERVER, inputs })) as { inputs: unknown };
    assert.deepEqual(json.inputs, inputs);
  });

  test('not to a file that is no JSON', () => {
    assert.throws(() => addToServersFile('{"servers": {', SERVER), SyntaxError);
    assert.throws(() => addToServersFile('[]', SERVER), SyntaxError);
  });
});

describe('a server is removed, and the rest stays as it is written', () => {
  const cases: readonly [before: string, after: string | undefined][] = [
    ['{"servers": {"a": {}, "b": {}}}', '{"servers": { "b": {}}}'],
    ['{"servers": {"b": {}, "a": {}}}', '{"servers": {"b": {}}}'],
    [
      '{\n  "servers": {\n    "a": {\n      "command": "x"\n    },\n    "b": {} // b\n  }\n}',
      '{\n  "servers": {\n    "b": {} // b\n  }\n}',
    ],
    [
      '{\n  "servers": {\n    "b": {},\n    "a": {"args": ["}"]}\n  }\n}',
      '{\n  "servers": {\n    "b": {}\n  }\n}',
    ],
    ['{"servers": {"a": {}}}', '{"servers": {}}'],
    ['{"servers": {"b": {"a": {}}}}', undefined],
    ['{"servers": {', undefined],
  ];
  for (const [before, after] of cases) {
    test(before, () => {
      assert.equal(removeFromServersFile(before, 'a'), after);
      if (after !== undefined) parseJsonWithComments(after);
    });
  }

  test('and what was added is gone without a trace', () => {
    const before = '{\n  "servers": {\n    "old": {}\n  }\n}';
    assert.equal(removeFromServersFile(addToServersFile(before, SERVER), 'new'), before);
  });
});

test('a server is found by its name, not by a text or a key elsewhere', () => {
  const text = '{"x": {"servers": {"a": 1}}, "servers": {"b": "a", /* "a": */ "a": {"command": "c"}}}';
  const place = findServer(text, 'a');
  assert.ok(place);
  assert.equal(text.slice(place.start, place.end), '"a": {"command": "c"}');
  assert.equal(findServer(text, 'c'), undefined);
});
