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

describe('the files of other apps', () => {
  const cases: readonly [Machine, string][] = [
    [
      { platform: 'linux', home: '/home/u' },
      `Claude Desktop: /home/u/.config/Claude/claude_desktop_config.json
Cursor: /home/u/.cursor/mcp.json
Windsurf: /home/u/.codeium/windsurf/mcp_config.json
Claude Code: /home/u/.claude.json
VS Code: /home/u/.config/Code/User/mcp.json`,
    ],
    [
      { platform: 'darwin', home: '/Users/u' },
      `Claude Desktop: /Users/u/Library/Application Support/Claude/claude_desktop_config.json
Cursor: /Users/u/.cursor/mcp.json
Windsurf: /Users/u/.codeium/windsurf/mcp_config.json
Claude Code: /Users/u/.claude.json
VS Code: /Users/u/Library/Application Support/Code/User/mcp.json`,
    ],
    [
      { platform: 'win32', home: 'C:\\Users\\u', appData: 'D:\\Roaming' },
      String.raw`Claude Desktop: D:\Roaming\Claude\claude_desktop_config.json
Cursor: C:\Users\u\.cursor\mcp.json
Windsurf: C:\Users\u\.codeium\windsurf\mcp_config.json
Claude Code: C:\Users\u\.claude.json
VS Code: D:\Roaming\Code\User\mcp.json`,
    ],
  ];
  for (const [machine, expected] of cases) {
    test(machine.platform, () => {
      const sources = importSources(machine).map(({ app, path }) => `${app}: ${path}`);
      assert.equal(sources.join('\n'), expected);
    });
  }

  test('Windows without APPDATA', () => {
    const [first] = importSources({ platform: 'win32', home: 'C:\\u' });
    assert.equal(first?.path, 'C:\\u\\AppData\\Roaming\\Claude\\claude_desktop_config.json');
  });
});

/** A file with servers, by the name and the command of each. */
function named(commands: Readonly<Record<string, string>>) {
  const servers = Object.entries(commands).map(([name, command]) => [name, { command }] as const);
  return { mcpServers: Object.fromEntries(servers) };
}

describe('the servers of another app become entries of our setting', () => {
  const program = { command: 'npx', args: ['-y', 'x'], env: { A: '1' } };
  const cases: readonly [string, unknown, unknown][] = [
    [
      'a program, with only the known fields',
      { mcpServers: { a: { ...program, alwaysAllow: [], disabled: true } } },
      { a: program },
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
      'a URL of Windsurf',
      { mcpServers: { a: { serverUrl: 'https://h/mcp', headers: { X: 'y' } } } },
      { a: { type: 'http', url: 'https://h/mcp', headers: { X: 'y' } } },
    ],
    [
      'a URL whose path names its type',
      { mcpServers: { a: { serverUrl: 'https://h/sse' }, b: { type: 'http', url: 'https://h/sse' } } },
      { a: { type: 'sse', url: 'https://h/sse' }, b: { type: 'http', url: 'https://h/sse' } },
    ],
    [
      'another name of http',
      { mcpServers: { a: { type: 'streamable-http', url: 'https://h/' } } },
      { a: { type: 'http', url: 'https://h/' } },
    ],
    [
      'another name of the type',
      { mcpServers: { b: { transport: 'sse', url: 'https://h/' } } },
      { b: { type: 'sse', url: 'https://h/' } },
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
      named({ 'My Server': 'a', 'my.server': 'b', 'My-Server': 'c', ü: 'd', constructor: 'e' }),
      named({ 'My-Server': 'a', 'my-server': 'b', 'My-Server-2': 'c', server: 'd', 'constructor-2': 'e' })
        .mcpServers,
    ],
    [
      'servers that Claude Code stores per folder',
      { ...named({ a: '1' }), projects: { '/p': named({ a: '2' }), '/q': {} } },
      named({ a: '1', 'a-2': '2' }).mcpServers,
    ],
    ['none', { theme: 'dark' }, {}],
  ];
  for (const [name, json, expected] of cases) {
    test(name, () => assert.deepEqual(readImport(JSON.stringify(json)), { servers: expected, problems: [] }));
  }

  const bad: readonly [string, unknown, RegExp][] = [
    ['not an object', 5, /"bad".*must be an object/],
    ['neither command nor url', {}, /"bad".*neither "command" nor "url"/],
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
  test('are extracted by the names of their variables and headers, and by their prefixes', () => {
    const env = { other: 'plain', TOKEN: '${env:T}', EMPTY_SECRET: '', PORT_KEY: 5 };
    const oauth = { clientId: 'me', scopes: ['token'] };
    const { entry, secrets } = extractSecrets('gh', {
      command: 'x',
      env: { ...env, API_KEY: 'k', WHO: 'ghp_123' },
      headers: { authorization: 'Bearer t', Accept: '*/*' },
      oauth: { ...oauth, clientSecret: 's' },
    });
    assert.deepEqual(entry, {
      command: 'x',
      env: { ...env, API_KEY: '${input:gh.API_KEY}', WHO: '${input:gh.WHO}' },
      headers: { authorization: '${input:gh.authorization}', Accept: '*/*' },
      oauth: { ...oauth, clientSecret: '${input:gh.clientSecret}' },
    });
    assert.deepEqual(Object.fromEntries(secrets), {
      'gh.API_KEY': 'k',
      'gh.WHO': 'ghp_123',
      'gh.authorization': 'Bearer t',
      'gh.clientSecret': 's',
    });
  });

  test('an entry without secrets is unchanged', () => {
    const entry = { command: 'x', args: ['a'] };
    assert.deepEqual(extractSecrets('a', entry), { entry, secrets: new Map() });
  });
});

test('an entry is described as written, or by its problem', () => {
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
    ['keeps quoted text together', `x "a b" 'c d' e"f g"'h'i`, ['x', 'a b', 'c d', 'ef ghi']],
    ['may have empty arguments', `x "" ''`, ['x', '', '']],
    ['keeps the other quote', `x "it's" 'a "b"'`, ['x', "it's", 'a "b"']],
    [
      'keeps paths of Windows',
      String.raw`C:\a\node.exe "\\srv\my share\x" C:\b`,
      ['C:\\a\\node.exe', '\\\\srv\\my share\\x', 'C:\\b'],
    ],
    ['can contain escaped quotes', String.raw`x "a \"b\"" \"c\" "d\\"`, ['x', 'a "b"', '"c"', 'd\\']],
    ['has no escapes between single quotes', String.raw`x 'a\' 'b\\c'`, ['x', 'a\\', 'b\\\\c']],
    [
      'does not use a shell',
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
    ['a path that escapes its quote', String.raw`x "C:\a\"`, /not closed/],
  ];
  for (const [name, line, expected] of bad) {
    test(`that is ${name} is a problem`, () => assert.match(String(split(line)), expected));
  }

  const word = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.string({ unit: fc.constantFrom('\\', '"', "'", ' ', 'a', '\n', '$') }),
  );
  const program = word.filter((each) => each !== '');

  test('that is quoted with double quotes is restored', () => {
    const quote = (text: string) =>
      `"${text.replace(/(\\*)("|$)/g, (_all, slashes, end) => slashes + slashes + (end && '\\"'))}"`;
    fc.assert(
      fc.property(program, fc.array(word), (first, rest) => {
        assert.deepEqual(split([first, ...rest].map(quote).join(' ')), [first, ...rest]);
      }),
    );
  });

  test('that is quoted with single quotes is restored', () => {
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
