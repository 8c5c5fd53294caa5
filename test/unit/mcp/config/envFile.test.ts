// biome-ignore-all lint/suspicious/noTemplateCurlyInString: what looks like a variable stays as it is.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { parseEnvFile, withEnvFile } from '../../../../src/mcp/config/envFile.ts';
import { fingerprintServer } from '../../../../src/mcp/config/fingerprint.ts';
import { inputsOf, resolveInputs } from '../../../../src/mcp/config/inputs.ts';
import type { ServerConfig } from '../../../../src/mcp/config/types.ts';
import { anySign } from '../../../kit/anySign.ts';

describe('an env file', () => {
  const cases: readonly [string, string, Readonly<Record<string, string>>][] = [
    ['plain lines', 'A=1\nB_2= two words \nC.d-e=', { A: '1', B_2: 'two words', 'C.d-e': '' }],
    ['lines of Windows, and a byte order mark', '\uFEFFA=1\r\nB=2\r\n', { A: '1', B: '2' }],
    [
      'blanks and comments',
      '\n# A=0\n  # x\nA=1 # one\nB=a#b\nC=#c\nD="a # b" # c',
      { A: '1', B: 'a#b', C: '', D: 'a # b' },
    ],
    ['as a shell exports them', 'export A=1\n  export   B = 2\nexport=3', { A: '1', B: '2', export: '3' }],
    ['double quotes have escapes', 'A="a\\nb\\t\\"c\\" \\\\ \\$x \\q"', { A: 'a\nb\t"c" \\ $x \\q' }],
    ['single quotes have no escapes', 'A=\'a\\nb "c"\'', { A: 'a\\nb "c"' }],
    ['unquoted text has no escapes', 'A=C:\\new', { A: 'C:\\new' }],
    ['quoted text may span lines', 'A="1\n2"\nB=\'3\r\n4\'', { A: '1\n2', B: '3\n4' }],
    ['nothing is expanded', 'A=1\nB=$A ${A} $(id) `id`', { A: '1', B: '$A ${A} $(id) `id`' }],
    ['the last value wins', 'A=1\nA=2', { A: '2' }],
    ['a comment ends with its line, however often it begins', `A=1${' #'.repeat(99_999)}\u2028`, { A: '1' }],
    ['quotes inside of a value', "A=it's", { A: "it's" }],
  ];
  for (const [name, text, expected] of cases) {
    test(name, () => assert.deepEqual(parseEnvFile(text), { variables: expected, problems: [] }));
  }

  test('an invalid line is reported by number without its text, and the others are read', () => {
    const text = 'A="1\n2"\nsecret\nB="secret\n=secret\n1C=secret\nD=secret\0\nE=\'a\' b\nF=1';
    const { variables, problems } = parseEnvFile(text);
    assert.deepEqual(variables, { A: '1\n2', F: '1' });
    assert.deepEqual(
      problems,
      [3, 4, 5, 6, 7, 8].map((line) => `Line ${line} was skipped: it is not NAME=value.`),
    );
  });

  test('a name from the prototype is allowed', () => {
    const { variables } = parseEnvFile('__proto__=1');
    assert.deepEqual(Object.entries(variables), [['__proto__', '1']]);
  });

  test('any text can be read', () => {
    const piece = fc.oneof(
      fc.string({ unit: anySign }),
      fc.constantFrom('A=', '"', "'", '\\', '\n', '#', 'export '),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        const { variables } = parseEnvFile(pieces.join(''));
        for (const [name, value] of Object.entries(variables)) {
          assert.match(name, /^[A-Za-z_][\w.-]*$/);
          assert.ok(!value.includes('\0'));
        }
      }),
    );
  });

  test('every value can be written between double quotes', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (value) => {
        const text = value.replace(/[\\"]/g, '\\$&').replaceAll('\n', '\\n').replaceAll('\r', '\\r');
        assert.deepEqual(parseEnvFile(`A="${text}"`).variables, { A: value });
      }),
    );
  });
});

describe('a server with an env file', () => {
  const config: ServerConfig = {
    kind: 'stdio',
    command: 'x',
    args: [],
    env: { A: 'own' },
    envFile: '/f.env',
  };
  const reading = (text: string) => withEnvFile(config, async () => text);

  test('gets its variables, and those in "env" win', async () => {
    const read = await reading('A=file\nB=2');
    assert.deepEqual(read, { ...config, fileVariables: { A: 'file', B: '2' } });
    const { config: started } = await resolveInputs(read, async () => undefined);
    assert.deepEqual(started, { ...config, env: { A: 'own', B: '2' } });
    assert.deepEqual(await reading('# nothing'), config);
  });

  test('nothing in the file is expanded', async () => {
    const read = await reading('B=${env:HOME} ${workspaceFolder} ${nope}');
    const { config: started } = await resolveInputs(read, () => assert.fail('was asked'));
    assert.deepEqual(started, { ...config, env: { A: 'own', B: '${env:HOME} ${workspaceFolder} ${nope}' } });
  });

  test('an input in the file is refused, so that no file gets the input of another', async () => {
    await assert.rejects(reading('B=1\nKEY=x${input:key}\nTWO="${input:key}"'), {
      message:
        'Its env file /f.env uses ${input:…} in KEY, TWO, but inputs are not resolved there. Move them to "env" in the configuration.',
    });
    const forged = { ...config, fileVariables: { B: '${input:key}' } };
    assert.deepEqual(inputsOf(forged), []);
    const { config: started } = await resolveInputs(forged, () => assert.fail('was asked'));
    assert.deepEqual(started, { ...config, env: { A: 'own', B: '${input:key}' } });
  });

  test('has another fingerprint when the file changes', async () => {
    const [before, after] = await Promise.all([reading('B=1'), reading('B=2')]);
    assert.notEqual(fingerprintServer(before), fingerprintServer(after));
  });

  test('reports the skipped lines', async () => {
    const told: string[] = [];
    const warn = (problem: string) => void told.push(problem);
    await withEnvFile(config, async () => 'B', warn);
    assert.deepEqual(told, ['/f.env: Line 1 was skipped: it is not NAME=value.']);
  });

  test('without its file is an error', async () => {
    const read = () => Promise.reject(new Error('there is no such file'));
    await assert.rejects(withEnvFile(config, read), {
      message:
        'Its env file /f.env could not be read: there is no such file. Create the file, or remove "envFile" from the configuration.',
    });
  });

  test('no file is read for other servers', async () => {
    const remote: ServerConfig = { kind: 'http', url: 'http://h', headers: {} };
    const { envFile: _none, ...plain } = config;
    const read = () => assert.fail('was read');
    assert.equal(await withEnvFile(remote, read), remote);
    assert.equal(await withEnvFile(plain, read), plain);
  });
});
