// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the variables of a configuration look like that.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { inputsOf, readInputs, resolveInputs } from '../../../../src/mcp/config/inputs.ts';
import type { ServerConfig } from '../../../../src/mcp/config/types.ts';

const PROGRAM: ServerConfig = {
  kind: 'stdio',
  command: '${input:program}',
  args: ['--key=${input:key}', '${input:key}${input:program}', '${env:HOME}'],
  env: { KEY: '${input:key}', '${input:name}': 'plain' },
  cwd: '/${input:folder}',
};
const ADDRESS: ServerConfig = {
  kind: 'http',
  url: 'https://${input:host}/',
  headers: { Authorization: 'Bearer ${input:key}' },
  oauth: { clientId: 'me', clientSecret: '${input:secret}', scopes: ['${input:scope}'] },
};

const answers: Readonly<Record<string, string>> = {
  program: 'node',
  key: '$& ${input:host}',
  folder: 'f',
  host: 'h.example',
  secret: 's',
  scope: 'read',
};
const answer = async (id: string) => answers[id];

describe('inputs of a configuration', () => {
  test('are found in every text, each once, and not in names', () => {
    assert.deepEqual(inputsOf(PROGRAM), ['program', 'key', 'folder']);
    assert.deepEqual(inputsOf(ADDRESS), ['host', 'key', 'secret', 'scope']);
  });

  test('are filled in literally, without expanding the values again', async () => {
    assert.deepEqual((await resolveInputs(PROGRAM, answer)).config, {
      kind: 'stdio',
      command: 'node',
      args: ['--key=$& ${input:host}', '$& ${input:host}node', '${env:HOME}'],
      env: { KEY: '$& ${input:host}', '${input:name}': 'plain' },
      cwd: '/f',
    });
    assert.deepEqual((await resolveInputs(ADDRESS, answer)).config, {
      kind: 'http',
      url: 'https://h.example/',
      headers: { Authorization: 'Bearer $& ${input:host}' },
      oauth: { clientId: 'me', clientSecret: 's', scopes: ['read'] },
    });
  });

  test('each input is asked for once', async () => {
    const asked: string[] = [];
    const plain: ServerConfig = { kind: 'stdio', command: 'x', args: [], env: {} };
    const ask = async (id: string) => {
      asked.push(id);
      return 'x';
    };
    assert.deepEqual(await resolveInputs(plain, ask), { config: plain, secrets: [] });
    await resolveInputs(PROGRAM, ask);
    assert.deepEqual(asked, ['program', 'key', 'folder']);
  });

  test('are secrets if they are passwords, unknown, or look like secrets; so are environment variables', async () => {
    const config: ServerConfig = {
      kind: 'http',
      url: 'https://h/${input:host}/${input:region}/${input:key}/${input:secret}/${input:folder}',
      headers: {},
      fromEnvironment: ['API_TOKEN', 'STAGE', 'GONE'],
    };
    const { inputs: definitions } = readInputs([
      { id: 'host', type: 'promptString' },
      { id: 'region', type: 'pickString', options: ['eu-central'] },
      { id: 'key', type: 'promptString' },
      { id: 'secret', type: 'promptString', password: true },
    ]);
    const given: Readonly<Record<string, string>> = {
      host: 'h.example',
      region: 'eu-central',
      key: 'by its name',
      secret: 'swordfish',
      folder: '/not/declared',
    };
    const environment = { API_TOKEN: 'from-outside', STAGE: 'production', OTHER: 'other' };
    const { secrets } = await resolveInputs(config, async (id) => given[id], { definitions, environment });
    assert.deepEqual(secrets, ['by its name', 'swordfish', 'from-outside']);
    const undeclared = await resolveInputs(config, async (id) => given[id], { environment });
    assert.deepEqual(undeclared.secrets, [
      'h.example',
      'eu-central',
      'by its name',
      'swordfish',
      'from-outside',
    ]);
  });

  test('a missing input is an error, and no other input is asked for', async () => {
    const asked: string[] = [];
    const ask = async (id: string) => void asked.push(id);
    await assert.rejects(resolveInputs(PROGRAM, ask as () => Promise<undefined>), {
      message: 'The input "program" was not entered. Start the server again to enter it.',
    });
    assert.deepEqual(asked, ['program']);
  });

  const unfit: readonly [string, ServerConfig, string, string][] = [
    ['a NUL', PROGRAM, 'a\0b', 'its "command" contains a NUL character; remove it'],
    [
      'a header of two lines',
      { kind: 'http', url: 'http://h', headers: { A: '${input:x}' } },
      'a\r\nB: b',
      'its header "A" has a name or value that HTTP does not allow',
    ],
    [
      'an invalid URL',
      { kind: 'http', url: '${input:x}', headers: {} },
      'file:///secret',
      'its "url" must be an absolute URL that starts with http:// or https://',
    ],
  ];
  for (const [name, config, value, reason] of unfit) {
    test(`${name} is rejected without quoting the value`, () =>
      assert.rejects(
        resolveInputs(config, async () => value),
        { message: `An input is not valid in the configuration of the server: ${reason}.` },
      ));
  }
});

describe('the list of inputs', () => {
  const cases: readonly [string, unknown, unknown][] = [
    [
      'a text',
      { id: 'a', type: 'promptString', description: 'Key', password: true, default: 'x' },
      { kind: 'text', description: 'Key', password: true, default: 'x' },
    ],
    [
      'a choice',
      { id: 'a', type: 'pickString', options: ['x', { label: 'Y!', value: 'y' }, 5] },
      {
        kind: 'choice',
        options: [
          { label: 'x', value: 'x' },
          { label: 'Y!', value: 'y' },
        ],
      },
    ],
  ];
  for (const [name, json, expected] of cases) {
    test(name, () => assert.deepEqual(readInputs([json]).inputs.get('a'), expected));
  }

  const bad: readonly [string, unknown, RegExp][] = [
    [
      'a command of the editor',
      { id: 'a', type: 'command', command: 'x' },
      /^Input "a".*cannot run editor commands/,
    ],
    ['an unknown type', { id: 'a', type: 'x' }, /^Input "a".*promptString/],
    ['a choice without options', { id: 'a', type: 'pickString', options: [] }, /^Input "a".*"options"/],
    ['no id', { type: 'promptString' }, /^Input number 1 .*"id"/],
    ['not an object', 5, /^Input number 1 /],
  ];
  for (const [name, json, expected] of bad) {
    test(`${name} is reported, and the other inputs are read`, () => {
      const { inputs, problems } = readInputs([json, { id: 'good', type: 'promptString' }]);
      assert.deepEqual([...inputs.keys()], ['good']);
      assert.equal(problems.length, 1);
      assert.match(problems[0] ?? '', expected);
    });
  }

  test('missing inputs are valid, and a value that is not a list is reported', () => {
    assert.deepEqual(readInputs(undefined), { inputs: new Map(), problems: [] });
    assert.equal(readInputs({}).problems.length, 1);
  });
});
