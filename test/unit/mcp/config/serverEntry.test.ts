// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the variables of a configuration look like that.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  describeEntry,
  extractSecrets,
  importSources,
  type Machine,
} from '../../../../src/mcp/config/serverEntry.ts';

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

  test('placeholders of a README become inputs without a value', () => {
    const { entry, secrets } = extractSecrets('gh', {
      env: {
        A: 'YOUR_API_KEY',
        B: '<token>',
        C: '...',
        D: 'my-value',
        E: 'sk-xxxxxxxx',
        URL: 'https://h/<id>',
      },
      headers: { Authorization: 'Bearer <your-token>', Accept: 'text/html' },
    });
    assert.deepEqual(entry, {
      env: {
        A: '${input:gh.A}',
        B: '${input:gh.B}',
        C: '${input:gh.C}',
        D: 'my-value',
        E: '${input:gh.E}',
        URL: 'https://h/<id>',
      },
      headers: { Authorization: 'Bearer ${input:gh.Authorization}', Accept: 'text/html' },
    });
    assert.deepEqual([...secrets], []);
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
  assert.match(describeOne({}), /^MCP server "a" is ignored: .*neither/);
});
