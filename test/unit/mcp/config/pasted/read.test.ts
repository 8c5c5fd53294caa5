// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the variables of a configuration look like that.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { freeName, inputsFor, nameServer } from '../../../../../src/mcp/config/pasted/normalize.ts';
import { readPasted, readPastedFile, readPastedJson } from '../../../../../src/mcp/config/pasted/read.ts';
import type { Pasted } from '../../../../../src/mcp/config/pasted/types.ts';

/** What was found, by name, with the variables translated. */
function found(pasted: Pasted): unknown {
  if (pasted.kind === 'problem') return pasted.problem;
  return Object.fromEntries(
    pasted.servers.map(({ name = '?', ...server }) => [name, nameServer(name, server).entry]),
  );
}

const encode = (json: unknown) => encodeURIComponent(JSON.stringify(json));
const base64 = (json: unknown) => Buffer.from(JSON.stringify(json)).toString('base64');
const NPX = { command: 'npx', args: ['-y', 'charts-mcp'] };
const CURSOR = 'cursor://anysphere.cursor-deeplink/mcp/install';

const CASES: Readonly<Record<string, readonly [text: string, expected: unknown][]>> = {
  'a command line': [
    ['npx -y charts-mcp', { charts: NPX }],
    ['  $ npx -y charts-mcp  ', { charts: NPX }],
    ['```sh\nnpx -y charts-mcp\n```', { charts: NPX }],
    ['`npx -y charts-mcp`', { charts: NPX }],
    ['npx \\\n  -y charts-mcp', { charts: NPX }],
    ['npx \\   -y charts-mcp', { charts: NPX }],
    ['A=b API_KEY="c d" npx -y charts-mcp', { charts: { ...NPX, env: { A: 'b', API_KEY: 'c d' } } }],
    ['env A=b npx -y charts-mcp', { charts: { ...NPX, env: { A: 'b' } } }],
    ['cd ~/charts && npx -y charts-mcp', { charts: { ...NPX, cwd: '${userHome}/charts' } }],
    [
      String.raw`C:\tools\node.exe "C:\my files\weather\build\index.js"`,
      {
        weather: {
          command: String.raw`C:\tools\node.exe`,
          args: [String.raw`C:\my files\weather\build\index.js`],
        },
      },
    ],
    [
      'npx -y @modelcontextprotocol/server-filesystem@latest ~/docs "$HOME/my files" $DATA/x',
      {
        filesystem: {
          command: 'npx',
          args: [
            '-y',
            '@modelcontextprotocol/server-filesystem@latest',
            '${userHome}/docs',
            '${userHome}/my files',
            '${env:DATA}/x',
          ],
        },
      },
    ],
    ['@playwright/mcp@latest', { playwright: { command: 'npx', args: ['-y', '@playwright/mcp@latest'] } }],
  ],
  'an address': [
    ['https://mcp.sentry.dev/mcp', { sentry: { type: 'http', url: 'https://mcp.sentry.dev/mcp' } }],
    ['https://example.com/sse', { example: { type: 'sse', url: 'https://example.com/sse' } }],
    ['http://localhost:3000/mcp', { 'local-3000': { type: 'http', url: 'http://localhost:3000/mcp' } }],
    ['localhost:3000/mcp', { 'local-3000': { type: 'http', url: 'http://localhost:3000/mcp' } }],
    ['mcp.example.com/mcp', { example: { type: 'http', url: 'https://mcp.example.com/mcp' } }],
    // It is allowed, and the review warns of it.
    ['http://192.168.0.7:80/mcp', { '192-168-0-7': { type: 'http', url: 'http://192.168.0.7:80/mcp' } }],
    [
      'https://a.com/mcp\nhttps://b.com/mcp',
      { a: { type: 'http', url: 'https://a.com/mcp' }, b: { type: 'http', url: 'https://b.com/mcp' } },
    ],
  ],
  JSON: [
    [JSON.stringify({ mcpServers: { charts: NPX } }), { charts: NPX }],
    [JSON.stringify({ servers: { charts: NPX }, inputs: [] }), { charts: NPX }],
    [JSON.stringify({ mcp: { servers: { charts: NPX } } }), { charts: NPX }],
    [JSON.stringify({ 'filechat.mcpServers': { charts: NPX } }), { charts: NPX }],
    [
      JSON.stringify({ charts: NPX, files: { url: 'https://h.io/' } }),
      { charts: NPX, files: { type: 'http', url: 'https://h.io/' } },
    ],
    [JSON.stringify(NPX), { charts: NPX }],
    [JSON.stringify({ name: 'mine', ...NPX }), { mine: NPX }],
    [JSON.stringify([{ name: 'a', ...NPX }, NPX]), { a: NPX, charts: NPX }],
    [`"charts": ${JSON.stringify(NPX)},`, { charts: NPX }],
    [`"mcpServers": {"charts": ${JSON.stringify(NPX)}}`, { charts: NPX }],
    [
      '{"mcpServers": { // one\n "charts": {"command": "npx", /* two */ "args": ["-y", "charts-mcp",],},\n}}',
      { charts: NPX },
    ],
    // The box of one line has turned the line breaks into spaces.
    [
      '{ // the servers  "mcpServers": { "charts": { "command": "npx", // with npx  "args": ["-y", "charts-mcp"] // all } } }',
      { charts: NPX },
    ],
    [
      '{"mcpServers":{"a":{"command":"x","url":"","args":["https://h.io//x"]}}}',
      { a: { command: 'x', args: ['https://h.io//x'] } },
    ],
    [
      JSON.stringify({
        mcp: { charts: { type: 'local', command: ['npx', '-y', 'charts-mcp'], environment: { A: '1' } } },
      }),
      { charts: { ...NPX, env: { A: '1' } } },
    ],
    [
      JSON.stringify({
        context_servers: { charts: { command: { path: 'npx', args: ['-y', 'charts-mcp'] } } },
      }),
      { charts: NPX },
    ],
    [
      JSON.stringify({ mcpServers: { 'My Charts!': NPX, 'my charts': NPX, 'My Charts': NPX } }),
      { 'My-Charts': NPX, 'my-charts': NPX, 'My-Charts-2': NPX },
    ],
    [JSON.stringify({ mcpServers: { good: NPX, bad: {} } }), { good: NPX }],
    [
      JSON.stringify({ servers: { a: { command: '${HOME}/x', args: ['${env:A}', '${input:key}'] } } }),
      { a: { command: '${env:HOME}/x', args: ['${env:A}', '${input:a.key}'] } },
    ],
    ['```json\n{"mcpServers": {"charts": {"command": "npx -y charts-mcp"}}}\n```', { charts: NPX }],
  ],
  'a line of another host': [
    ['claude mcp add charts -- npx -y charts-mcp', { charts: NPX }],
    ['claude mcp add charts npx -y charts-mcp', { charts: NPX }],
    [
      'claude mcp add -s user -e A=1 B="2 3" --env=C=4 charts -- npx -y charts-mcp',
      { charts: { ...NPX, env: { A: '1', B: '2 3', C: '4' } } },
    ],
    ['claude mcp add charts --env A=1 -- npx -y charts-mcp', { charts: { ...NPX, env: { A: '1' } } }],
    [
      'claude mcp add --transport http sentry https://mcp.sentry.dev/mcp --header "Authorization: Bearer a:b" -H "X-A: 1"',
      {
        sentry: {
          type: 'http',
          url: 'https://mcp.sentry.dev/mcp',
          headers: { Authorization: 'Bearer a:b', 'X-A': '1' },
        },
      },
    ],
    [
      'claude mcp add -t sse asana https://mcp.asana.com/sse',
      { asana: { type: 'sse', url: 'https://mcp.asana.com/sse' } },
    ],
    [`claude mcp add-json charts '${JSON.stringify(NPX)}'`, { charts: NPX }],
    ['codex mcp add charts --env A=1 -- npx -y charts-mcp', { charts: { ...NPX, env: { A: '1' } } }],
    [
      'codex mcp add figma --url https://mcp.figma.com/mcp --bearer-token-env-var FIGMA_TOKEN',
      {
        figma: {
          type: 'http',
          url: 'https://mcp.figma.com/mcp',
          headers: { Authorization: 'Bearer ${env:FIGMA_TOKEN}' },
        },
      },
    ],
    ['gemini mcp add charts npx -y charts-mcp', { charts: NPX }],
    [
      '$ claude mcp add a -- npx -y charts-mcp\n$ claude mcp add b https://b.com/mcp',
      { a: NPX, b: { type: 'http', url: 'https://b.com/mcp' } },
    ],
    ['claude mcp add a -- npx -y charts-mcp claude mcp add b -- npx -y charts-mcp', { a: NPX, b: NPX }],
    [`code --add-mcp '${JSON.stringify({ name: 'charts', ...NPX })}'`, { charts: NPX }],
  ],
  'an install link': [
    [`vscode:mcp/install?${encode({ name: 'charts', ...NPX })}`, { charts: NPX }],
    [`vscode:mcp/install?${JSON.stringify({ name: 'charts', ...NPX })}`, { charts: NPX }],
    [`vscode-insiders:mcp/install?${encode({ name: 'charts', type: 'stdio', ...NPX })}`, { charts: NPX }],
    [
      `https://insiders.vscode.dev/redirect/mcp/install?name=charts&config=${encode(NPX)}&quality=insiders`,
      { charts: NPX },
    ],
    [
      `https://vscode.dev/redirect?url=${encodeURIComponent(`vscode:mcp/install?${encode({ name: 'charts', ...NPX })}`)}`,
      { charts: NPX },
    ],
    [`${CURSOR}?name=charts&config=${base64(NPX)}`, { charts: NPX }],
    [`${CURSOR}?name=charts&config=${encodeURIComponent(base64(NPX))}`, { charts: NPX }],
    [`${CURSOR}?name=charts&config=${base64({ charts: NPX })}`, { charts: NPX }],
    [`${CURSOR}?name=charts&config=${base64({ command: 'npx -y charts-mcp' })}`, { charts: NPX }],
    [`https://cursor.com/en/install-mcp?name=charts&config=${base64(NPX)}`, { charts: NPX }],
    [
      `[![Add](https://cursor.com/x.svg)](https://cursor.com/install-mcp?name=charts&config=${base64(NPX)})`,
      { charts: NPX },
    ],
    [
      `${CURSOR}?name=a&config=${base64(NPX)} vscode:mcp/install?${encode({ name: 'b', ...NPX })}`,
      { a: NPX, b: NPX },
    ],
  ],
  'what cannot be used': [
    ['', { kind: 'empty' }],
    ['A=b', { kind: 'empty' }],
    [' '.repeat(200_001), { kind: 'tooLong', maxChars: 200_000 }],
    ['npx "my folder', { kind: 'quote', quote: '"' }],
    ['cat x | npx charts', { kind: 'shell', word: '|' }],
    ['npm install -g charts-mcp', { kind: 'installer' }],
    ['python3 -m pip install charts-mcp', { kind: 'installer' }],
    ['npx -y @smithery/cli@latest install charts --client claude', { kind: 'installer' }],
    ['[mcp_servers.charts]\ncommand = "npx"', { kind: 'toml' }],
    ['{"theme": "dark"}', { kind: 'noServers' }],
    ['{"mcpServers": {}}', { kind: 'noServers' }],
    ['{ // "command": "evil",  "command": "x" }', { kind: 'comments' }],
    ['ftp://example.com/mcp', { kind: 'address', text: 'ftp://example.com/mcp' }],
    ['https://me:secret@example.com/mcp', { kind: 'userInfo' }],
    ['https://github.com/someone/charts-mcp', { kind: 'webPage', host: 'github.com' }],
    ['vscode:mcp/install', { kind: 'link', text: 'vscode:mcp/install' }],
    [`${CURSOR}?name=a&config=%%%`, { kind: 'link', text: `${CURSOR}?name=a&config=%%%` }],
    ['claude mcp add', { kind: 'usage', command: 'claude mcp add', missing: 'name' }],
    ['claude mcp add charts', { kind: 'usage', command: 'claude mcp add', missing: 'target' }],
    ['codex mcp add charts --url', { kind: 'usage', command: 'codex mcp add', missing: 'target' }],
  ],
};

for (const [kind, cases] of Object.entries(CASES)) {
  describe(kind, () => {
    for (const [text, expected] of cases) {
      test(text.trim().slice(0, 100) || `${text.length} spaces`, () =>
        assert.deepEqual(found(readPasted(text)), expected),
      );
    }
  });
}

describe('invalid JSON and invalid servers are reported with their reason', () => {
  const bad: readonly [string, RegExp][] = [
    ['{"mcpServers": {"a": {"command": "x",, "args": []}}}', /^json Expected double-quoted property name$/],
    ['{"mcpServers": }', /^json Unexpected token '}'$/],
    ['{"mcpServers": {"a": {"command": "x"}', /^json /],
    ['vscode:mcp/install?%7B%22a', /^json /],
    ['{"mcpServers": {"a": {}}}', /^server .*"a".*neither "command" nor "url"/],
    ['{"mcpServers": {"a": 5}}', /^server .*"a".*must be an object/],
    ['{"mcpServers": {"a": {"type": "ws", "url": "http://h"}}}', /^server .*"type"/],
    ['{"mcpServers": {"a": {"command": "${A:-b}"}}}', /^server .*\$\{A:-b\}/],
  ];
  for (const [text, expected] of bad) {
    test(text, () => {
      const pasted = readPasted(text);
      assert.ok(pasted.kind === 'problem' && 'reason' in pasted.problem);
      assert.match(`${pasted.problem.kind} ${pasted.problem.reason}`, expected);
    });
  }

  test('beside valid ones, too', () => {
    const pasted = readPasted(JSON.stringify({ mcpServers: { bad: {}, good: NPX } }));
    assert.ok(pasted.kind === 'servers');
    assert.equal(pasted.problems.length, 1);
    assert.match(pasted.problems[0] ?? '', /"bad"/);
  });
});

describe('names', () => {
  const cases: readonly [text: string, name: string][] = [
    ['uvx mcp-server-fetch', 'fetch'],
    ['uvx --from git+https://github.com/a/b some-tool', 'some-tool'],
    ['uv run --directory /x/weather server.py', 'weather'],
    ['python -m mcp_server_time --local', 'time'],
    ['docker run -i --rm -e TOKEN ghcr.io/github/github-mcp-server:latest', 'github'],
    ['cmd /c npx -y @upstash/context7-mcp', 'context7'],
    ['npx mcp-remote https://mcp.linear.app/sse', 'linear'],
    ['pnpm dlx @scope/tools', 'tools'],
    ['deno run -A npm:weather', 'weather'],
    ['./build/server', '?'],
    ['/opt/acme/bin/acme-mcp', 'acme'],
    ['node -e 0', 'node'],
    ['https://docs.example.co.uk/mcp', 'example'],
    ['https://api.githubcopilot.com/mcp/', 'githubcopilot'],
    ['http://[::1]/mcp', 'local'],
  ];
  for (const [text, name] of cases) {
    test(text, () => assert.deepEqual(Object.keys(found(readPasted(text)) as object), [name]));
  }

  test('that are taken get a number', () => {
    assert.equal(freeName('a', new Set(['b'])), 'a');
    assert.equal(freeName('a', new Set(['a', 'a-2'])), 'a-3');
    assert.equal(freeName('constructor', new Set()), 'constructor-2');
  });
});

test('the scope of a project asks for the workspace', () => {
  const scoped = (text: string) => {
    const pasted = readPasted(text);
    return pasted.kind === 'servers' && pasted.isForWorkspace;
  };
  assert.equal(scoped('claude mcp add -s project a -- x'), true);
  assert.equal(scoped('claude mcp add --scope user a -- x'), false);
});

test('fields that are not used are named, except those that mean the same in any host', () => {
  const pasted = readPastedJson({
    mcpServers: { a: { ...NPX, disabled: true, autoApprove: [], timeout: 5 } },
  });
  assert.deepEqual(pasted.kind === 'servers' && pasted.servers[0]?.ignored, ['autoApprove', 'timeout']);
});

test('definitions of inputs follow the servers that use them', () => {
  const inputs = [{ id: 'key', type: 'promptString' }, { id: 'other' }, 5];
  const link = `vscode:mcp/install?${encode({ name: 'a', command: 'x', args: ['${input:key}'], inputs })}`;
  const pasted = readPasted(link);
  assert.ok(pasted.kind === 'servers' && pasted.servers[0]);
  const server = nameServer('b', pasted.servers[0]);
  assert.deepEqual(inputsFor(server, pasted.inputs), [{ id: 'b.key', type: 'promptString' }]);
});

describe('the files of other hosts', () => {
  const named = (servers: Readonly<Record<string, string>>) => ({
    mcpServers: Object.fromEntries(Object.entries(servers).map(([name, command]) => [name, { command }])),
  });
  const cases: readonly [string, unknown, unknown][] = [
    [
      'VS Code',
      {
        servers: { a: { type: 'stdio', command: 'x', cwd: '/', envFile: '.env', gallery: true } },
        inputs: [],
      },
      { a: { command: 'x', cwd: '/', envFile: '.env' } },
    ],
    [
      'Windsurf',
      { mcpServers: { a: { serverUrl: 'https://h/mcp', headers: { X: 'y' } } } },
      { a: { type: 'http', url: 'https://h/mcp', headers: { X: 'y' } } },
    ],
    [
      'types in the path, and written ones',
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
      'Claude Code, with servers per folder',
      { ...named({ a: '1' }), projects: { '/p': named({ a: '2' }), '/q': {} } },
      { a: { command: '1' }, 'a-2': { command: '2' } },
    ],
    ['without servers', { theme: 'dark' }, { kind: 'noServers' }],
  ];
  for (const [name, json, expected] of cases) {
    test(name, () => assert.deepEqual(found(readPastedFile(JSON.stringify(json))), expected));
  }
});

test('no text makes it throw', () => {
  const piece = fc.constantFrom(
    '{',
    '}',
    '"',
    "'",
    '//',
    ' ',
    'claude mcp add ',
    'vscode:',
    '?',
    '%',
    'https://',
    ':',
    ',',
    'npx',
    '\n',
    '--',
  );
  const text = fc.oneof(
    fc.string(),
    fc.array(piece, { maxLength: 20 }).map((pieces) => pieces.join('')),
  );
  fc.assert(
    fc.property(text, (each) => void readPasted(each)),
    { numRuns: 400 },
  );
});
