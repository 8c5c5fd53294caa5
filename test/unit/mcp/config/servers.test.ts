// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the variables of a configuration look like that.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { describeChange, describeServer, fingerprintServer } from '../../../../src/mcp/config/fingerprint.ts';
import { readServers, readServersFile } from '../../../../src/mcp/config/servers.ts';
import type { ServerConfig } from '../../../../src/mcp/config/types.ts';

const CONTEXT = {
  workspaceFolder: '/ws',
  env: { TOKEN: 'abc', EMPTY: '' },
  userHome: '/home/u',
  pathSeparator: '|',
};

function readOne(entry: unknown, context = CONTEXT): ServerConfig | string {
  const { servers, problems } = readServers({ one: entry }, context);
  return servers.get('one') ?? problems.join('\n');
}

describe('an entry is read as the server that it means', () => {
  const cases: readonly [string, unknown, ServerConfig][] = [
    ['a command is a process', { command: 'node' }, { kind: 'stdio', command: 'node', args: [], env: {} }],
    ['a url is Streamable HTTP', { url: 'http://h/mcp' }, { kind: 'http', url: 'http://h/mcp', headers: {} }],
    [
      'the type counts',
      { type: 'sse', url: 'https://h/sse' },
      { kind: 'sse', url: 'https://h/sse', headers: {} },
    ],
    [
      'the names of other hosts for http',
      { type: 'streamable-http', url: 'https://h/' },
      { kind: 'http', url: 'https://h/', headers: {} },
    ],
    [
      'variables are filled in everywhere',
      {
        command: '${workspaceFolder}/bin/x',
        args: ['--token=${env:TOKEN}', '${workspaceFolder}${env:EMPTY}/a', '$HOME', '${'],
        env: { A: '${env:TOKEN}', '${env:TOKEN}': 'name' },
        cwd: '${workspaceFolder}/sub',
      },
      {
        kind: 'stdio',
        command: '/ws/bin/x',
        args: ['--token=abc', '/ws/a', '$HOME', '${'],
        env: { A: 'abc', '${env:TOKEN}': 'name' },
        cwd: '/ws/sub',
        fromEnvironment: ['TOKEN', 'EMPTY'],
      },
    ],
    [
      'the home folder and the separator of paths',
      { command: '${userHome}${/}x${pathSeparator}y' },
      { kind: 'stdio', command: '/home/u|x|y', args: [], env: {} },
    ],
    [
      'an input stays what it is',
      { command: 'x', args: ['${input:a b}'], env: { KEY: '${input:key}' } },
      { kind: 'stdio', command: 'x', args: ['${input:a b}'], env: { KEY: '${input:key}' } },
    ],
    [
      'an address may hold inputs, or be one',
      { url: 'https://${input:host}:${input:port}/' },
      { kind: 'http', url: 'https://${input:host}:${input:port}/', headers: {} },
    ],
    [
      'an address that is an input',
      { url: '${input:url}' },
      { kind: 'http', url: '${input:url}', headers: {} },
    ],
    [
      'the name of an env file',
      { command: 'x', envFile: '${workspaceFolder}/.env' },
      { kind: 'stdio', command: 'x', args: [], env: {}, envFile: '/ws/.env' },
    ],
    [
      'the address by its name in Windsurf',
      { serverUrl: 'https://h/' },
      { kind: 'http', url: 'https://h/', headers: {} },
    ],
    [
      'the address by its name in Gemini',
      { httpUrl: 'https://h/', timeout: 5 },
      { kind: 'http', url: 'https://h/', headers: {} },
    ],
    [
      'the client of the sign-in',
      {
        url: 'https://h/',
        oauth: {
          clientId: 'me',
          clientSecret: '${input:secret}',
          clientMetadataUrl: 'https://me.example/client.json',
          scopes: ['read', 'write'],
          other: 1,
        },
      },
      {
        kind: 'http',
        url: 'https://h/',
        headers: {},
        oauth: {
          clientId: 'me',
          clientSecret: '${input:secret}',
          clientMetadataUrl: 'https://me.example/client.json',
          scopes: ['read', 'write'],
        },
      },
    ],
    [
      'scopes in one text',
      { url: 'https://h/', oauth: { scopes: 'a  b' } },
      { kind: 'http', url: 'https://h/', headers: {}, oauth: { scopes: ['a', 'b'] } },
    ],
    [
      'variables in url and headers',
      { url: 'http://h/${env:TOKEN}', headers: { Authorization: 'Bearer ${env:TOKEN}' } },
      {
        kind: 'http',
        url: 'http://h/abc',
        headers: { Authorization: 'Bearer abc' },
        fromEnvironment: ['TOKEN'],
      },
    ],
    [
      'a variable that is null is left out, a number is its text',
      { command: 'x', env: { A: null, B: 3000, C: true } },
      { kind: 'stdio', command: 'x', args: [], env: { B: '3000', C: 'true' } },
    ],
  ];
  for (const [name, entry, expected] of cases) {
    test(name, () => assert.deepEqual(readOne(entry), expected));
  }

  test('what a variable holds is not expanded again', () => {
    const config = readOne({ command: '${env:A}' }, {
      workspaceFolder: '/ws',
      env: { A: '${env:TOKEN}' },
    } as never);
    assert.deepEqual(config, {
      kind: 'stdio',
      command: '${env:TOKEN}',
      args: [],
      env: {},
      fromEnvironment: ['A'],
    });
  });
});

describe('a bad entry becomes a problem that names it and says what to do', () => {
  const cases: readonly [string, unknown, RegExp][] = [
    ['not an object', 'node x', /must be an object/],
    ['nothing to go by', {}, /neither "command" nor "url"/],
    ['an unknown type', { type: 'ftp', url: 'http://h' }, /"stdio", "http" or "sse"/],
    ['a process without command', { type: 'stdio', url: 'http://h' }, /"command" must be a string/],
    ['an empty command', { command: ' ' }, /"command" must not be empty/],
    ['args that are no list', { command: 'x', args: 'a b' }, /"args" must be a list/],
    ['an argument that is not a string', { command: 'x', args: ['a', {}] }, /"args\[1\]" must be a string/],
    ['a NUL', { command: 'x', args: ['a\0b'] }, /NUL/],
    ['an address that is not http', { url: 'file:///etc/passwd' }, /http:\/\//],
    ['half an address', { url: 'localhost:3000/mcp' }, /http:\/\//],
    ['a header that HTTP does not allow', { url: 'http://h', headers: { A: 'x\r\nB: y' } }, /header "A"/],
    ['a variable name that cannot be', { command: 'x', env: { 'A=B': '1' } }, /"A=B"/],
    ['a variable that is not set', { command: '${env:NOPE}' }, /\$\{env:NOPE\}.*not set/],
    ['a variable from the prototype', { command: '${env:constructor}' }, /not set/],
    ['an unknown variable', { command: '${command:key}' }, /\$\{command:key\}/],
    ['an input without a name', { command: '${input:}' }, /\$\{input:\}/],
    ['an env file that would have to be asked for', { command: 'x', envFile: '${input:f}' }, /"envFile"/],
    ['scopes that are no list', { url: 'http://h', oauth: { scopes: 5 } }, /"oauth\.scopes"/],
    [
      'client metadata that are not on https',
      { url: 'http://h', oauth: { clientMetadataUrl: 'http://h/c' } },
      /"oauth\.clientMetadataUrl"/,
    ],
  ];
  for (const [name, entry, expected] of cases) {
    test(name, () => {
      const { servers, problems } = readServers({ bad: entry, good: { command: 'x' } }, CONTEXT);
      assert.deepEqual([...servers.keys()], ['good']);
      assert.equal(problems.length, 1);
      assert.match(problems[0] ?? '', /^MCP server "bad" is left out: /);
      assert.match(problems[0] ?? '', expected);
    });
  }

  test('the value of a header is not told', () => {
    assert.doesNotMatch(String(readOne({ url: 'http://h', headers: { A: 'secret\n' + 'x' } })), /secret/);
  });

  test('without an open folder, ${workspaceFolder} is a problem', () => {
    const { problems } = readServers({ a: { command: '${workspaceFolder}/x' } }, { env: {} });
    assert.match(problems[0] ?? '', /no folder is open/);
  });

  for (const name of ['a.b', 'a b', '', 'ä', '__proto__', 'constructor']) {
    test(`the name ${JSON.stringify(name)}`, () => {
      const { servers, problems } = readServers(
        JSON.parse(`{${JSON.stringify(name)}:{"command":"x"}}`),
        CONTEXT,
      );
      assert.equal(servers.size, 0);
      assert.ok(problems[0]?.includes(JSON.stringify(name)));
    });
  }

  for (const json of [[], 'x', 5, true]) {
    test(`servers that are ${JSON.stringify(json)}`, () =>
      assert.equal(readServers(json, CONTEXT).problems.length, 1));
  }

  test('a disabled server is skipped silently', () =>
    assert.deepEqual(readServers({ a: { command: 5, disabled: true } }, CONTEXT), {
      servers: new Map(),
      written: new Map(),
      problems: [],
    }));

  test('no servers at all are no problem', () =>
    assert.deepEqual(readServers(undefined, CONTEXT), {
      servers: new Map(),
      written: new Map(),
      problems: [],
    }));
});

test('keys from the prototype pollute nothing', () => {
  const json = '{"a":{"command":"x","env":{"__proto__":"1","constructor":"2"}},"__proto__":{"command":"y"}}';
  const { servers } = readServers(JSON.parse(json), CONTEXT);
  const config = servers.get('a');
  assert.ok(config?.kind === 'stdio');
  assert.deepEqual(Object.entries(config.env), [
    ['__proto__', '1'],
    ['constructor', '2'],
  ]);
  assert.equal(Object.getPrototypeOf(config.env), Object.prototype);
  assert.equal(({} as Record<string, unknown>)['command'], undefined);
});

describe('a servers file', () => {
  const read = (text: string) => {
    const { servers, problems } = readServersFile(text, CONTEXT);
    return problems.length > 0 ? problems : Object.fromEntries(servers);
  };
  const x = { kind: 'stdio', command: 'x', args: [], env: {} };
  const cases: readonly [string, string, unknown][] = [
    ['plain', '{"servers":{"a":{"command":"x"}}}', { a: x }],
    ['of another host', '{"mcpServers":{"a":{"command":"x"}}}', { a: x }],
    ['with a byte order mark', '\uFEFF{"servers":{}}', {}],
    [
      'with comments and trailing commas',
      '// top\n{ /* "servers": 1,\n */ "servers": {"a": {"command": "x", "args": [ ], }, // end\n }, }\n//',
      { a: x },
    ],
    [
      'whose strings look like comments and commas',
      '{"servers":{"a":{"command":"x","args":["// no","/* no */","a,]","\\"//",",}"]}}}',
      { a: { ...x, args: ['// no', '/* no */', 'a,]', '"//', ',}'] } },
    ],
    [
      'without servers',
      '{"server":{}}',
      ['The MCP servers file has no "servers"; it must look like { "servers": { "NAME": { … } } }.'],
    ],
  ];
  for (const [name, text, expected] of cases) {
    test(name, () => assert.deepEqual(read(text), expected));
  }

  for (const text of ['', '{', '{"servers":{}} x', '/* open', '[1,,2]', '{"a" 1}']) {
    test(`that is not JSON: ${text}`, () => assert.match(String(read(text)), /is not JSON: /));
  }
});

describe('as written', () => {
  test('variables stay in place', () => {
    const entry = { command: '${env:NOPE}', args: ['${workspaceFolder}'] };
    const { servers } = readServers({ a: entry }, 'asWritten');
    assert.deepEqual(servers.get('a'), { kind: 'stdio', ...entry, env: {} });
  });

  test('it is there beside what it means, with the names of what it takes from the environment', () => {
    const entry = { url: 'https://h/${env:TOKEN}', headers: { A: '${env:TOKEN} ${input:x}' } };
    const { servers, written } = readServers({ a: entry }, { env: { TOKEN: 's3cret' } });
    assert.deepEqual(written.get('a'), { kind: 'http', ...entry, fromEnvironment: ['TOKEN'] });
    assert.ok(!describeServer(written.get('a') as ServerConfig).includes('s3cret'));
    assert.ok(JSON.stringify(servers.get('a')).includes('s3cret'));
  });

  test('unknown ones are a problem all the same', () => {
    const { problems } = readServers({ a: { command: '${NOPE:-x}' } }, 'asWritten');
    assert.match(problems[0] ?? '', /\$\{NOPE:-x\}/);
  });
});

test('the inputs of a servers file are read with it', () => {
  const { inputs, problems } = readServersFile(
    '{"servers":{"a":{"command":"x"}},"inputs":[{"id":"k","type":"promptString"},{"id":"c","type":"command"}]}',
    CONTEXT,
  );
  assert.deepEqual([...inputs], [['k', { kind: 'text', password: false }]]);
  assert.match(problems.join('\n'), /^Input "c" .*"command"/);
});

describe('what a person is asked to agree to', () => {
  const cases: readonly [string, ServerConfig, string][] = [
    [
      'the whole command line, and variables with their values',
      {
        kind: 'stdio',
        command: 'npx',
        args: ['-y', 'a b', '', 'x'.repeat(300)],
        env: { NODE_OPTIONS: '--import=/tmp/x.mjs', 'A B': 'c\nenv: D=e', EMPTY: '' },
        cwd: '/w',
      },
      `npx -y "a b" "" ${'x'.repeat(300)}\nin /w\nenv: NODE_OPTIONS=--import=/tmp/x.mjs\nenv: "A B"="c\\nenv: D=e"\nenv: EMPTY=""`,
    ],
    [
      'nothing hides: quotes, line ends, bidi and zero-width characters',
      { kind: 'stdio', command: 'sh', args: ['-c', 'a"\nb\u202Ec\u200Bd'], env: {} },
      'sh -c "a\\"\\nb⟦U+202E⟧c⟦U+200B⟧d"',
    ],
    [
      'the address, and headers with their values',
      { kind: 'http', url: 'https://h/p?q=${env:Q}', headers: { Authorization: 'Bearer ${input:key}' } },
      'https://h/p?q=${env:Q}\nheader: Authorization="Bearer ${input:key}"\ninputs: key',
    ],
    [
      'an address of two lines is one line',
      { kind: 'http', url: 'https://h/\nheader: A=b', headers: {} },
      '"https://h/\\nheader: A=b"',
    ],
    [
      'the inputs, and what it gets from the environment',
      {
        kind: 'stdio',
        command: 'x',
        args: ['${input:a}'],
        env: { B: '${input:b} ${input:a}' },
        fromEnvironment: ['HOME'],
      },
      'x ${input:a}\nenv: B="${input:b} ${input:a}"\ninputs: a, b\ngets from your environment: HOME',
    ],
    [
      'the env file: its names, with the values of decisive variables',
      {
        kind: 'stdio',
        command: 'x',
        args: [],
        env: { PATH: '/own' },
        envFile: '/w/my env',
        fileVariables: {
          API: 'hidden',
          NODE_OPTIONS: '--require=./x.cjs',
          LD_PRELOAD: './x.so',
          dyld_insert_libraries: './x.dylib',
          PYTHONSTARTUP: 'x.py',
          Path: './bin',
          https_proxy: 'http://h',
          GIT_SSH_COMMAND: 'sh x',
          GIT_TOKEN: 'hidden',
          DATABASE_URL: 'hidden',
        },
      },
      [
        'x',
        'env: PATH=/own',
        'env file: "/w/my env"',
        'env file sets: NODE_OPTIONS=--require=./x.cjs',
        'env file sets: LD_PRELOAD=./x.so',
        'env file sets: dyld_insert_libraries=./x.dylib',
        'env file sets: PYTHONSTARTUP=x.py',
        'env file sets: Path=./bin',
        'env file sets: https_proxy=http://h',
        'env file sets: GIT_SSH_COMMAND="sh x"',
        'env file sets: API, GIT_TOKEN, DATABASE_URL',
      ].join('\n'),
    ],
    [
      'the client of the sign-in',
      {
        kind: 'http',
        url: 'https://h/',
        headers: {},
        oauth: { clientId: 'me', clientSecret: '${input:s}', scopes: ['read', 'wr\u200Bite'] },
      },
      'https://h/\nsigns in as: me\nclient secret: ${input:s}\nscopes: read, "wr⟦U+200B⟧ite"\ninputs: s',
    ],
  ];
  for (const [name, config, expected] of cases) {
    test(name, () => assert.equal(describeServer(config), expected));
  }

  test('what the user has written is shown without what looks like a secret', () => {
    const isSecret = (name: string) => /TOKEN|Secret/i.test(name);
    const env = { TOKEN: 'hidden', TOKEN_2: '${input:t}', LEVEL: 'debug' };
    assert.equal(
      describeServer({ kind: 'stdio', command: 'x', args: [], env }, isSecret),
      'x\nenv: TOKEN=•••\nenv: TOKEN_2=${input:t}\nenv: LEVEL=debug\ninputs: t',
    );
    const oauth = { clientSecret: 'hidden' };
    assert.equal(
      describeServer({ kind: 'http', url: 'https://h/', headers: { 'X-Token': 'hidden' }, oauth }, isSecret),
      'https://h/\nheader: X-Token=•••\nclient secret: •••',
    );
  });

  const changes: readonly [string, string, string, string][] = [
    ['a value', 'x\nenv: A=1\nin /w', 'x\nenv: A=2\nin /w', 'was: env: A=1\nis: env: A=2'],
    ['more', 'x', 'x\nenv: A=2', 'is: env: A=2'],
    ['less', 'x\nenv: A=2', 'x', 'was: env: A=2'],
    [
      'what is not shown',
      'x',
      'x',
      'A value that is not shown has changed: one of its env file, or of your environment.',
    ],
  ];
  for (const [name, was, is, expected] of changes) {
    test(`after a change, what was and what is: ${name}`, () =>
      assert.equal(describeChange(was, is), expected));
  }
});

describe('the fingerprint', () => {
  const config: ServerConfig = { kind: 'stdio', command: 'x', args: ['a', 'b'], env: { A: '1', B: '2' } };

  test('does not depend on the order of keys', () => {
    const same: ServerConfig = { env: { B: '2', A: '1' }, args: ['a', 'b'], command: 'x', kind: 'stdio' };
    assert.equal(fingerprintServer(same), fingerprintServer(config));
    assert.match(fingerprintServer(config), /^[0-9a-f]{64}$/);
  });

  const changes: readonly [string, ServerConfig][] = [
    ['the command', { ...config, command: 'y' }],
    ['the order of arguments', { ...config, args: ['b', 'a'] }],
    ['where an argument ends', { ...config, args: ['a b'] }],
    ['the value of a variable', { ...config, env: { A: '1', B: '3' } }],
    ['the folder', { ...config, cwd: '/' }],
    ['the env file', { ...config, envFile: '/.env' }],
    ['what the env file says', { ...config, fileVariables: { C: '3' } }],
  ];
  for (const [name, changed] of changes) {
    test(`changes with ${name}`, () =>
      assert.notEqual(fingerprintServer(changed), fingerprintServer(config)));
  }

  test('changes with the client of the sign-in', () => {
    const remote: ServerConfig = { kind: 'http', url: 'https://h/', headers: {}, oauth: { clientId: 'a' } };
    const other: ServerConfig = { ...remote, oauth: { clientId: 'b' } };
    assert.notEqual(fingerprintServer(remote), fingerprintServer(other));
  });
});
