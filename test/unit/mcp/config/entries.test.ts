// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the variables of a configuration look like that.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import {
  describeEntry,
  extractSecrets,
  importSources,
  type Machine,
  readImport,
  splitCommand,
} from '../../../../src/mcp/config/entries.ts';

describe('where other hosts keep their servers', () => {
  const cases: readonly [Machine, readonly string[]][] = [
    [
      { platform: 'linux', home: '/home/u' },
      [
        'Claude Desktop: /home/u/.config/Claude/claude_desktop_config.json',
        'Cursor: /home/u/.cursor/mcp.json',
        'Windsurf: /home/u/.codeium/windsurf/mcp_config.json',
        'Claude Code: /home/u/.claude.json',
        'VS Code: /home/u/.config/Code/User/mcp.json',
      ],
    ],
    [
      { platform: 'darwin', home: '/Users/u' },
      [
        'Claude Desktop: /Users/u/Library/Application Support/Claude/claude_desktop_config.json',
        'Cursor: /Users/u/.cursor/mcp.json',
        'Windsurf: /Users/u/.codeium/windsurf/mcp_config.json',
        'Claude Code: /Users/u/.claude.json',
        'VS Code: /Users/u/Library/Application Support/Code/User/mcp.json',
      ],
    ],
    [
      { platform: 'win32', home: 'C:\\Users\\u', appData: 'D:\\Roaming' },
      [
        'Claude Desktop: D:\\Roaming\\Claude\\claude_desktop_config.json',
        'Cursor: C:\\Users\\u\\.cursor\\mcp.json',
        'Windsurf: C:\\Users\\u\\.codeium\\windsurf\\mcp_config.json',
        'Claude Code: C:\\Users\\u\\.claude.json',
        'VS Code: D:\\Roaming\\Code\\User\\mcp.json',
      ],
    ],
  ];
  for (const [machine, expected] of cases) {
    test(machine.platform, () =>
      assert.deepEqual(
        importSources(machine).map(({ app, path }) => `${app}: ${path}`),
        expected,
      ),
    );
  }

  test('Windows without APPDATA', () =>
    assert.equal(
      importSources({ platform: 'win32', home: 'C:\\u' })[0]?.path,
      'C:\\u\\AppData\\Roaming\\Claude\\claude_desktop_config.json',
    ));
});

describe('the servers of another host become entries of our setting', () => {
  const cases: readonly [string, unknown, unknown][] = [
    [
      'a program, with only what we know',
      {
        mcpServers: {
          a: { command: 'npx', args: ['-y', 'x'], env: { A: '1' }, alwaysAllow: [], disabled: true },
        },
      },
      { a: { command: 'npx', args: ['-y', 'x'], env: { A: '1' } } },
    ],
    [
      'the file of VS Code',
      {
        servers: { a: { type: 'stdio', command: 'x', cwd: '/', envFile: '.env', gallery: true } },
        inputs: [],
      },
      { a: { command: 'x', cwd: '/', envFile: '.env' } },
    ],
    [
      'an address of Windsurf',
      { mcpServers: { a: { serverUrl: 'https://h/mcp', headers: { X: 'y' } } } },
      { a: { type: 'http', url: 'https://h/mcp', headers: { X: 'y' } } },
    ],
    [
      'an address that says by its end what it is',
      { mcpServers: { a: { serverUrl: 'https://h/sse' }, b: { type: 'http', url: 'https://h/sse' } } },
      { a: { type: 'sse', url: 'https://h/sse' }, b: { type: 'http', url: 'https://h/sse' } },
    ],
    [
      'other names of types',
      {
        mcpServers: {
          a: { type: 'streamable-http', url: 'https://h/' },
          b: { transport: 'sse', url: 'https://h/' },
        },
      },
      { a: { type: 'http', url: 'https://h/' }, b: { type: 'sse', url: 'https://h/' } },
    ],
    [
      'a sign-in of Cursor',
      { mcpServers: { a: { url: 'https://h/', auth: { CLIENT_ID: 'me', scopes: ['r'] } } } },
      { a: { type: 'http', url: 'https://h/', oauth: { clientId: 'me', scopes: ['r'] } } },
    ],
    [
      'variables and inputs',
      { servers: { a: { command: '${HOME}/x', args: ['${userHome}', '${env:A}', '${input:key}'] } } },
      { a: { command: '${env:HOME}/x', args: ['${userHome}', '${env:A}', '${input:a.key}'] } },
    ],
    [
      'names are made valid and unique',
      {
        mcpServers: {
          'My Server': { command: 'a' },
          'my.server': { command: 'b' },
          'My-Server': { command: 'c' },
          ü: { command: 'd' },
          constructor: { command: 'e' },
        },
      },
      {
        'My-Server': { command: 'a' },
        'my-server': { command: 'b' },
        'My-Server-2': { command: 'c' },
        server: { command: 'd' },
        'constructor-2': { command: 'e' },
      },
    ],
    [
      'those that Claude Code keeps for a folder',
      {
        mcpServers: { a: { command: '1' } },
        projects: { '/p': { mcpServers: { a: { command: '2' } } }, '/q': {} },
      },
      { a: { command: '1' }, 'a-2': { command: '2' } },
    ],
    ['none', { theme: 'dark' }, {}],
  ];
  for (const [name, json, expected] of cases) {
    test(name, () => assert.deepEqual(readImport(JSON.stringify(json)), { servers: expected, problems: [] }));
  }

  const bad: readonly [string, unknown, RegExp][] = [
    ['no object', 5, /"bad".*must be an object/],
    ['nothing to go by', {}, /"bad".*neither "command" nor "url"/],
    ['an unknown type', { type: 'ws', url: 'http://h' }, /"bad".*"type"/],
    ['an unknown variable', { command: '${A:-b}' }, /"bad".*\$\{A:-b\}/],
  ];
  for (const [name, entry, expected] of bad) {
    test(`${name} is reported, and the other servers are imported`, () => {
      const text = JSON.stringify({ mcpServers: { bad: entry, good: { command: 'x' } } });
      const { servers, problems } = readImport(text);
      assert.deepEqual(Object.keys(servers), ['good']);
      assert.equal(problems.length, 1);
      assert.match(problems[0] ?? '', expected);
    });
  }

  test('comments are ignored, and invalid JSON is reported', () => {
    assert.deepEqual(readImport('{"mcpServers":{/* x */"a":{"command":"x",},}}').servers, {
      a: { command: 'x' },
    });
    assert.match(readImport('{').problems[0] ?? '', /not JSON/);
  });
});

describe('secrets', () => {
  test('are taken out by the names of their variables and headers, and by how they begin', () => {
    const { entry, secrets } = extractSecrets('gh', {
      command: 'x',
      env: { API_KEY: 'k', other: 'plain', TOKEN: '${env:T}', EMPTY_SECRET: '', WHO: 'ghp_123', PORT_KEY: 5 },
      headers: { authorization: 'Bearer t', Accept: '*/*' },
      oauth: { clientId: 'me', clientSecret: 's', scopes: ['token'] },
    });
    assert.deepEqual(entry, {
      command: 'x',
      env: {
        API_KEY: '${input:gh.API_KEY}',
        other: 'plain',
        TOKEN: '${env:T}',
        EMPTY_SECRET: '',
        WHO: '${input:gh.WHO}',
        PORT_KEY: 5,
      },
      headers: { authorization: '${input:gh.authorization}', Accept: '*/*' },
      oauth: { clientId: 'me', clientSecret: '${input:gh.clientSecret}', scopes: ['token'] },
    });
    assert.deepEqual(Object.fromEntries(secrets), {
      'gh.API_KEY': 'k',
      'gh.WHO': 'ghp_123',
      'gh.authorization': 'Bearer t',
      'gh.clientSecret': 's',
    });
  });

  test('an entry without any stays as it is', () => {
    const entry = { command: 'x', args: ['a'] };
    assert.deepEqual(extractSecrets('a', entry), { entry, secrets: new Map() });
  });
});

test('an entry is described as it is written, or by what is wrong with it', () => {
  const describeOne = (entry: Readonly<Record<string, unknown>>) => describeEntry({ name: 'a', entry });
  assert.equal(describeOne({ command: 'x', args: ['${env:NOPE}'] }), 'x ${env:NOPE}');
  assert.equal(
    describeOne({ command: 'x', env: { API_KEY: 'hidden', A: '1' } }),
    'x\nenv: API_KEY=•••\nenv: A=1',
  );
  assert.match(describeOne({}), /^MCP server "a" is left out: .*neither/);
});

function split(line: string): readonly string[] | string {
  const found = splitCommand(line);
  return found.kind === 'command' ? [found.command, ...found.args] : found.message;
}

describe('a command line', () => {
  const cases: readonly [string, string, readonly string[]][] = [
    ['is split at white space', '  npx  -y\tserver\n/tmp ', ['npx', '-y', 'server', '/tmp']],
    ['keeps together what is quoted', `x "a b" 'c d' e"f g"'h'i`, ['x', 'a b', 'c d', 'ef ghi']],
    ['has empty arguments', `x "" ''`, ['x', '', '']],
    ['keeps the other quote', `x "it's" 'a "b"'`, ['x', "it's", 'a "b"']],
    [
      'keeps paths of Windows',
      String.raw`C:\a\node.exe "\\srv\my share\x" C:\b`,
      ['C:\\a\\node.exe', '\\\\srv\\my share\\x', 'C:\\b'],
    ],
    ['has a way to write a quote', String.raw`x "a \"b\"" \"c\" "d\\"`, ['x', 'a "b"', '"c"', 'd\\']],
    ['knows no escapes between single quotes', String.raw`x 'a\' 'b\\c'`, ['x', 'a\\', 'b\\\\c']],
    [
      'has no shell',
      'x $HOME `id` a|b && c > d; *',
      ['x', '$HOME', '`id`', 'a|b', '&&', 'c', '>', 'd;', '*'],
    ],
  ];
  for (const [name, line, expected] of cases) {
    test(name, () => assert.deepEqual(split(line), expected));
  }

  const bad: readonly [string, string, RegExp][] = [
    ['nothing', ' ', /^Enter the program first/],
    ['an empty program', '"" x', /^Enter the program first/],
    ['an open quote', 'x "a b', /\("\) is not closed/],
    ['an open single quote', "x it's", /\('\) is not closed/],
    ['a path that takes its quote with it', String.raw`x "C:\a\"`, /not closed/],
  ];
  for (const [name, line, expected] of bad) {
    test(`that is ${name} is a problem`, () => assert.match(String(split(line)), expected));
  }

  const word = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.string({ unit: fc.constantFrom('\\', '"', "'", ' ', 'a', '\n', '$') }),
  );
  const program = word.filter((each) => each !== '');

  test('that is quoted comes back as it was, between double quotes', () => {
    const quote = (text: string) =>
      `"${text.replace(/(\\*)("|$)/g, (_all, slashes, end) => slashes + slashes + (end && '\\"'))}"`;
    fc.assert(
      fc.property(program, fc.array(word), (first, rest) => {
        assert.deepEqual(split([first, ...rest].map(quote).join(' ')), [first, ...rest]);
      }),
    );
  });

  test('that is quoted comes back as it was, between single quotes', () => {
    const quote = (text: string) =>
      text
        .split("'")
        .map((each) => `'${each}'`)
        .join(`"'"`);
    fc.assert(
      fc.property(program, fc.array(word), (first, rest) => {
        assert.deepEqual(split([first, ...rest].map(quote).join('\t')), [first, ...rest]);
      }),
    );
  });
});
