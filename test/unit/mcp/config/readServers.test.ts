// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the variables of a configuration look like that.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { describeChange, describeServer, fingerprintServer } from '../../../../src/mcp/config/fingerprint.ts';
import { readServers, readServersFile } from '../../../../src/mcp/config/readServers.ts';
import { type ServerConfig, startedIn } from '../../../../src/mcp/config/types.ts';

const CONTEXT = {
  workspaceFolder: '/ws',
  env: { TOKEN: 'abc', EMPTY: '' },
  userHome: '/home/u',
  pathSeparator: '|',
};

function readOne(
  entry: unknown,
  context: Parameters<typeof readServers>[1] = CONTEXT,
): ServerConfig | string {
  const { servers, problems } = readServers({ one: entry }, context);
  return servers.get('one') ?? problems.join('\n');
}

const stdio = (fields: object = {}): ServerConfig => ({
  kind: 'stdio',
  command: 'x',
  args: [],
  env: {},
  ...fields,
});
const http = (url: string, fields: object = {}): ServerConfig => ({
  kind: 'http',
  url,
  headers: {},
  ...fields,
});

describe('an entry is read as a server', () => {
  const variables = {
    command: '${workspaceFolder}/bin/x',
    args: ['--token=${env:TOKEN}', '${workspaceFolder}${env:EMPTY}/a', '$HOME', '${'],
    env: { A: '${env:TOKEN}', '${env:TOKEN}': 'name' },
    cwd: '${workspaceFolder}/sub',
  };
  const expanded = {
    command: '/ws/bin/x',
    args: ['--token=abc', '/ws/a', '$HOME', '${'],
    env: { A: 'abc', '${env:TOKEN}': 'name' },
    cwd: '/ws/sub',
    fromEnvironment: ['TOKEN', 'EMPTY'],
  };
  const inputs = { args: ['${input:a b}'], env: { KEY: '${input:key}' } };
  const oauth = {
    clientId: 'me',
    clientSecret: '${input:secret}',
    clientMetadataUrl: 'https://me.example/client.json',
    scopes: ['read', 'write'],
  };
  const portInput = 'https://${input:host}:${input:port}/';
  const cases: readonly [string, unknown, ServerConfig][] = [
    ['a command is a process', { command: 'node' }, stdio({ command: 'node' })],
    ['a url is Streamable HTTP', { url: 'http://h/mcp' }, http('http://h/mcp')],
    ['the type decides', { type: 'sse', url: 'https://h/sse' }, http('https://h/sse', { kind: 'sse' })],
    ['another name for http', { type: 'streamable-http', url: 'https://h/' }, http('https://h/')],
    ['variables are expanded in all values', variables, stdio(expanded)],
    [
      'the home folder and the path separator',
      { command: '${userHome}${/}x${pathSeparator}y' },
      stdio({ command: '/home/u|x|y' }),
    ],
    ['inputs are kept', { command: 'x', ...inputs }, stdio(inputs)],
    ['a URL may contain inputs', { url: portInput }, http(portInput)],
    ['a URL may be an input', { url: '${input:url}' }, http('${input:url}')],
    [
      'the name of an env file',
      { command: 'x', envFile: '${workspaceFolder}/.env' },
      stdio({ envFile: '/ws/.env' }),
    ],
    ['the name of the URL in Windsurf', { serverUrl: 'https://h/' }, http('https://h/')],
    ['the name of the URL in Gemini', { httpUrl: 'https://h/', timeout: 5 }, http('https://h/')],
    [
      'the client of the sign-in',
      { url: 'https://h/', oauth: { ...oauth, other: 1 } },
      http('https://h/', { oauth }),
    ],
    [
      'scopes in one string',
      { url: 'https://h/', oauth: { scopes: 'a  b' } },
      http('https://h/', { oauth: { scopes: ['a', 'b'] } }),
    ],
    [
      'variables in url and headers',
      { url: 'http://h/${env:TOKEN}', headers: { Authorization: 'Bearer ${env:TOKEN}' } },
      http('http://h/abc', { headers: { Authorization: 'Bearer abc' }, fromEnvironment: ['TOKEN'] }),
    ],
    [
      'a null variable is omitted, a number becomes text',
      { command: 'x', env: { A: null, B: 3000, C: true } },
      stdio({ env: { B: '3000', C: 'true' } }),
    ],
  ];
  for (const [name, entry, expected] of cases) {
    test(name, () => assert.deepEqual(readOne(entry), expected));
  }

  test('the value of a variable is not expanded again', () => {
    const config = readOne({ command: '${env:A}' }, { workspaceFolder: '/ws', env: { A: '${env:TOKEN}' } });
    assert.deepEqual(config, stdio({ command: '${env:TOKEN}', fromEnvironment: ['A'] }));
  });
});

describe('an invalid entry becomes a problem with its name and advice', () => {
  const cases: readonly [string, unknown, RegExp][] = [
    ['not an object', 'node x', /must be an object/],
    ['neither command nor url', {}, /neither "command" nor "url"/],
    ['an unknown type', { type: 'ftp', url: 'http://h' }, /"stdio", "http" or "sse"/],
    ['a process without command', { type: 'stdio', url: 'http://h' }, /"command" must be a string/],
    ['a number as command', { command: 42 }, /"command" must be a string/],
    ['a boolean as address', { type: 'http', url: true }, /"url" must be a string/],
    ['an empty command', { command: ' ' }, /"command" must not be empty/],
    ['args that are not a list', { command: 'x', args: 'a b' }, /"args" must be a list/],
    ['an argument that is not a string', { command: 'x', args: ['a', {}] }, /"args\[1\]" must be a string/],
    ['a NUL', { command: 'x', args: ['a\0b'] }, /NUL/],
    ['a URL that is not http', { url: 'file:///etc/passwd' }, /http:\/\//],
    ['an incomplete URL', { url: 'localhost:3000/mcp' }, /http:\/\//],
    ['a header that HTTP does not allow', { url: 'http://h', headers: { A: 'x\r\nB: y' } }, /header "A"/],
    ['an invalid variable name', { command: 'x', env: { 'A=B': '1' } }, /"A=B"/],
    ['a variable that makes it empty', { command: '${env:EMPTY}' }, /"command" must not be empty/],
    ['a variable that is not set', { command: '${env:NOPE}' }, /\$\{env:NOPE\}.*not set/],
    ['a variable from the prototype', { command: '${env:constructor}' }, /not set/],
    ['an unknown variable', { command: '${command:key}' }, /\$\{command:key\}/],
    ['an input without a name', { command: '${input:}' }, /\$\{input:\}/],
    ['an env file with an input', { command: 'x', envFile: '${input:f}' }, /"envFile"/],
    ['scopes that are not a list', { url: 'http://h', oauth: { scopes: 5 } }, /"oauth\.scopes"/],
    [
      'client metadata without https',
      { url: 'http://h', oauth: { clientMetadataUrl: 'http://h/c' } },
      /"oauth\.clientMetadataUrl"/,
    ],
  ];
  for (const [name, entry, expected] of cases) {
    test(name, () => {
      const { servers, problems } = readServers({ bad: entry, good: { command: 'x' } }, CONTEXT);
      assert.deepEqual([...servers.keys()], ['good']);
      assert.equal(problems.length, 1);
      assert.match(problems[0] ?? '', /^MCP server "bad" is ignored: /);
      assert.match(problems[0] ?? '', expected);
    });
  }

  test('the value of a header is not shown', () => {
    assert.doesNotMatch(String(readOne({ url: 'http://h', headers: { A: 'secret\n' + 'x' } })), /secret/);
  });

  test('without an open folder, ${workspaceFolder} is a problem', () => {
    const { problems } = readServers({ a: { command: '${workspaceFolder}/x' } }, { env: {} });
    assert.match(problems[0] ?? '', /no folder is open/);
  });

  for (const name of ['a.b', 'a b', '', 'ä', '__proto__', 'constructor']) {
    test(`the name ${JSON.stringify(name)}`, () => {
      const json = JSON.parse(`{${JSON.stringify(name)}:{"command":"x"}}`);
      const { servers, problems } = readServers(json, CONTEXT);
      assert.equal(servers.size, 0);
      assert.ok(problems[0]?.includes(JSON.stringify(name)));
    });
  }

  for (const json of [[], 'x', 5, true]) {
    test(`servers that are ${JSON.stringify(json)}`, () =>
      assert.equal(readServers(json, CONTEXT).problems.length, 1));
  }

  const nothing = { servers: new Map(), written: new Map(), problems: [] };
  test('a disabled server is skipped silently', () =>
    assert.deepEqual(readServers({ a: { command: 5, disabled: true } }, CONTEXT), nothing));

  test('missing servers are not a problem', () => assert.deepEqual(readServers(undefined, CONTEXT), nothing));
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
  const cases: readonly [string, string, unknown][] = [
    ['plain', '{"servers":{"a":{"command":"x"}}}', { a: stdio() }],
    ['of another app', '{"mcpServers":{"a":{"command":"x"}}}', { a: stdio() }],
    ['with a byte order mark', '\uFEFF{"servers":{}}', {}],
    [
      'with comments and trailing commas',
      '// top\n{ /* "servers": 1,\n */ "servers": {"a": {"command": "x", "args": [ ], }, // end\n }, }\n//',
      { a: stdio() },
    ],
    [
      'whose strings look like comments and commas',
      '{"servers":{"a":{"command":"x","args":["// no","/* no */","a,]","\\"//",",}"]}}}',
      { a: stdio({ args: ['// no', '/* no */', 'a,]', '"//', ',}'] }) },
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

  test('it is available beside the expanded one, with the names of its environment variables', () => {
    const entry = { url: 'https://h/${env:TOKEN}', headers: { A: '${env:TOKEN} ${input:x}' } };
    const { servers, written } = readServers({ a: entry }, { env: { TOKEN: 's3cret' } });
    assert.deepEqual(written.get('a'), { kind: 'http', ...entry, fromEnvironment: ['TOKEN'] });
    assert.ok(!describeServer(written.get('a') as ServerConfig).includes('s3cret'));
    assert.ok(JSON.stringify(servers.get('a')).includes('s3cret'));
  });

  test('unknown variables are a problem, too', () => {
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

describe('the description of a server for consent', () => {
  const fileVariables = {
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
    UV_INDEX_URL: 'https://evil.example/simple',
    PIP_INDEX_URL: 'https://evil.example/simple',
    DOCKER_HOST: 'tcp://evil.example:2375',
    OPENAI_BASE_URL: 'https://evil.example/v1',
    STORE_URL: 'postgres://me:hidden@h/db',
    HOOK_URL: 'https://h/?key=hidden',
  };
  const fileLines = `x
env: PATH=/own
env file: "/w/my env"
env file sets: NODE_OPTIONS=--require=./x.cjs
env file sets: LD_PRELOAD=./x.so
env file sets: dyld_insert_libraries=./x.dylib
env file sets: PYTHONSTARTUP=x.py
env file sets: Path=./bin
env file sets: https_proxy=http://h
env file sets: GIT_SSH_COMMAND="sh x"
env file sets: UV_INDEX_URL=https://evil.example/simple
env file sets: PIP_INDEX_URL=https://evil.example/simple
env file sets: DOCKER_HOST=tcp://evil.example:2375
env file sets: OPENAI_BASE_URL=https://evil.example/v1
env file sets: API, GIT_TOKEN, DATABASE_URL, STORE_URL, HOOK_URL`;
  const long = 'x'.repeat(300);
  const env = { NODE_OPTIONS: '--import=/tmp/x.mjs', 'A B': 'c\nenv: D=e', EMPTY: '' };
  const cases: readonly [string, ServerConfig, string][] = [
    [
      'the whole command line, and variables with their values',
      stdio({ command: 'npx', args: ['-y', 'a b', '', long], env, cwd: '/w' }),
      `npx -y "a b" "" ${long}\nin /w\nenv: NODE_OPTIONS=--import=/tmp/x.mjs\nenv: "A B"="c\\nenv: D=e"\nenv: EMPTY=""`,
    ],
    [
      'quotes, line ends, bidirectional and zero-width characters are visible',
      stdio({ command: 'sh', args: ['-c', 'a"\nb\u202Ec\u200Bd'] }),
      'sh -c "a\\"\\nb⟦U+202E⟧c⟦U+200B⟧d"',
    ],
    [
      'the URL, and headers with their values',
      http('https://h/p?q=${env:Q}', { headers: { Authorization: 'Bearer ${input:key}' } }),
      'https://h/p?q=${env:Q}\nheader: Authorization="Bearer ${input:key}"\ninputs: key',
    ],
    ['a URL of two lines is one line', http('https://h/\nheader: A=b'), '"https://h/\\nheader: A=b"'],
    [
      'the inputs and the environment variables',
      stdio({ args: ['${input:a}'], env: { B: '${input:b} ${input:a}' }, fromEnvironment: ['HOME'] }),
      'x ${input:a}\nenv: B="${input:b} ${input:a}"\ninputs: a, b\nfrom your environment: HOME',
    ],
    [
      'the env file: its names, with the values of decisive variables',
      stdio({ env: { PATH: '/own' }, envFile: '/w/my env', fileVariables }),
      fileLines,
    ],
    [
      'the client of the sign-in',
      http('https://h/', {
        oauth: { clientId: 'me', clientSecret: '${input:s}', scopes: ['read', 'wr\u200Bite'] },
      }),
      'https://h/\nsigns in as: me\nclient secret: ${input:s}\nscopes: read, "wr⟦U+200B⟧ite"\ninputs: s',
    ],
  ];
  for (const [name, config, expected] of cases) {
    test(name, () => assert.equal(describeServer(config), expected));
  }

  const masked: readonly [ServerConfig, string][] = [
    [
      stdio({ env: { TOKEN: 'hidden', TOKEN_2: '${input:t}', LEVEL: 'debug' } }),
      'x\nenv: TOKEN=•••\nenv: TOKEN_2=${input:t}\nenv: LEVEL=debug\ninputs: t',
    ],
    [
      http('https://h/', { headers: { 'X-Token': 'hidden' }, oauth: { clientSecret: 'hidden' } }),
      'https://h/\nheader: X-Token=•••\nclient secret: •••',
    ],
  ];
  for (const [config, expected] of masked) {
    test(`secrets are masked: ${config.kind}`, () =>
      assert.equal(
        describeServer(config, (name) => /TOKEN|Secret/i.test(name)),
        expected,
      ));
  }

  const changes: readonly [string, string, string, string][] = [
    ['a value', 'x\nenv: A=1\nin /w', 'x\nenv: A=2\nin /w', 'was: env: A=1\nis: env: A=2'],
    ['more', 'x', 'x\nenv: A=2', 'is: env: A=2'],
    ['less', 'x\nenv: A=2', 'x', 'was: env: A=2'],
    [
      'a hidden value',
      'x',
      'x',
      'A value that is not shown has changed, in its env file or in your environment.',
    ],
  ];
  for (const [name, was, is, expected] of changes) {
    test(`after a change, the old and the new lines: ${name}`, () =>
      assert.equal(describeChange(was, is), expected));
  }

  // Each line was compared with all others, which took minutes.
  test('after a change, the old and the new lines: thousands', () => {
    const env = (value: number) =>
      Array.from({ length: 100_000 }, (_, at) => `env: A${at}=${value}`).join('\n');
    assert.equal(describeChange(env(1), env(2)).split('\n').length, 200_000);
  });
});

describe('the fingerprint', () => {
  const fields = { args: ['a', 'b'], env: { A: '1', B: '2' } };
  const config = stdio(fields);

  test('does not depend on the order of keys', () => {
    const same: ServerConfig = { env: { B: '2', A: '1' }, args: ['a', 'b'], command: 'x', kind: 'stdio' };
    assert.equal(fingerprintServer(same), fingerprintServer(config));
    assert.match(fingerprintServer(config), /^[0-9a-f]{64}$/);
  });

  const changes: readonly [string, object][] = [
    ['the command', { command: 'y' }],
    ['the order of arguments', { args: ['b', 'a'] }],
    ['the end of an argument', { args: ['a b'] }],
    ['the value of a variable', { env: { A: '1', B: '3' } }],
    ['the folder', { cwd: '/' }],
    ['the env file', { envFile: '/.env' }],
    ['the variables of the env file', { fileVariables: { C: '3' } }],
  ];
  for (const [name, changed] of changes) {
    test(`changes with ${name}`, () =>
      assert.notEqual(fingerprintServer(stdio({ ...fields, ...changed })), fingerprintServer(config)));
  }

  test('changes with the client of the sign-in', () => {
    const [a, b] = ['a', 'b'].map((clientId) =>
      fingerprintServer(http('https://h/', { oauth: { clientId } })),
    );
    assert.notEqual(a, b);
  });

  test('covers the values of environment variables, which the written configuration does not contain', () => {
    const [a, b] = ['1', '2'].map((VALUE) => {
      const { servers, written } = readServers(
        { one: { command: 'x', args: ['${env:VALUE}'] } },
        { env: { VALUE } },
      );
      return [servers, written].map((each) => fingerprintServer(each.get('one') as ServerConfig));
    });
    assert.notEqual(a?.[0], b?.[0]);
    assert.equal(a?.[1], b?.[1]);
  });
});

test('a program of a workspace starts in its folder, and a permission is for that folder', () => {
  const started = (folder: string, cwd?: string) =>
    startedIn(folder, stdio(cwd === undefined ? {} : { cwd }));
  assert.equal(fieldOf(started('/a')), '/a');
  assert.equal(fieldOf(started('/a', 'sub')), join('/a', 'sub'));
  assert.equal(fieldOf(started('/a', '/else')), '/else');
  assert.equal(fieldOf(started('/a', '${userHome}/x')), '${userHome}/x');
  assert.notEqual(fingerprintServer(started('/a', 'sub')), fingerprintServer(started('/b', 'sub')));
});

const fieldOf = (config: ServerConfig) => (config.kind === 'stdio' ? config.cwd : undefined);
