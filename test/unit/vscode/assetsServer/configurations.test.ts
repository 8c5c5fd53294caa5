import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { readPasted } from '../../../../src/mcp/config/pasted/read.ts';
import { splitWords } from '../../../../src/mcp/config/pasted/words.ts';
import {
  CLIENT_IDS,
  clientForm,
  type Launch,
  type McpClient,
} from '../../../../src/vscode/assetsServer/configurations.ts';

const NAME = 'filechat-assets';

interface Started {
  readonly command: string;
  readonly args: readonly string[];
}

/** The key of the servers in the client's JSON, and the extra fields of an entry. */
const JSON_CLIENTS: Partial<Record<McpClient, { group: string; more?: object }>> = {
  'claude-desktop': { group: 'mcpServers' },
  cursor: { group: 'mcpServers', more: { type: 'stdio' } },
  windsurf: { group: 'mcpServers' },
  vscode: { group: 'servers', more: { type: 'stdio' } },
  zed: { group: 'context_servers' },
  gemini: { group: 'mcpServers' },
  json: { group: 'mcpServers' },
};

/** The command that the client would start. */
function readBack(client: McpClient, text: string, platform: NodeJS.Platform): Started {
  if (client === 'codex') return readToml(text);
  if (client === 'claude-code') return readLine(text, platform);
  const { group, more } = JSON_CLIENTS[client] ?? { group: '' };
  const file = JSON.parse(text);
  assert.deepEqual(Object.keys(file), [group]);
  const { command, args, ...rest } = file[group][NAME];
  assert.deepEqual(rest, more ?? {});
  return { command, args };
}

/** Reads the subset of TOML that we write. Rejects escapes that TOML does not have. */
function readToml(text: string): Started {
  const shape =
    /^\[mcp_servers\.filechat-assets\]\ncommand = ("[^\n]*")\nargs = \[\n((?: {2}"[^\n]*",\n)*)\]\n$/;
  const [, command = '', args = ''] = shape.exec(text) ?? assert.fail(text);
  const read = (string: string) => {
    assert.match(string, /^"(?:[^"\\\u0000-\u001f\u007f]|\\(?:[btnfr"\\]|u[0-9a-f]{4}))*"$/);
    return JSON.parse(string);
  };
  return {
    command: read(command),
    // Only \n ends a line of TOML; a dot and `^` also treat U+2028 as a line end.
    args: args
      .split('\n')
      .slice(0, -1)
      .map((line) => read(line.slice(2, -1))),
  };
}

function readLine(text: string, platform: NodeJS.Platform): Started {
  // PowerShell doubles a quote; a shell closes and reopens the string.
  const plain = platform === 'win32' ? text.replaceAll(/(?<=\S)''(?=\S)/g, `'"'"'`) : text;
  const words = splitWords(plain);
  assert.deepEqual(words.slice(0, 7), ['claude', 'mcp', 'add', '--scope', 'user', NAME, '--']);
  const [command = '', ...args] = words.slice(7);
  return { command, args };
}

const PATHS: Readonly<Partial<Record<NodeJS.Platform, readonly string[]>>> = {
  linux: [
    '/home/me/notes',
    '/home/me/My Notes',
    `/home/o'neil/"quoted" and 'single'`,
    '/home/me/back\\slash\\',
    `/home/me/$HOME/\${PATH}/$(id)/\`id\``,
    '/home/me/100% & more; # | < > * ? !x ~',
    '/home/möwe/Ü 笔记/🗂️',
    '/home/me/tab\tnew\nline\u007f\u0001',
    '/home/me/\u2028\u2029',
  ],
  win32: [
    'C:\\Users\\me\\notes',
    'C:\\',
    'C:\\Users\\My Name\\Notes (old) & more\\',
    "C:\\Users\\o'neil\\x",
    'C:\\Users\\möwe\\笔记',
    '\\\\server\\share\\notes',
    "D:\\$Recycle`s o'x",
  ],
};

describe('the copied configuration', () => {
  for (const client of CLIENT_IDS) {
    for (const [system, paths] of Object.entries(PATHS)) {
      it(`starts the same program with the same arguments: ${client} on ${system}`, () => {
        const platform = system as NodeJS.Platform;
        const launch: Launch = { command: 'node', args: ['/store/assets-server.mjs', ...paths], platform };
        const started = readBack(client, clientForm(client).write(launch), platform);
        assert.deepEqual(started, { command: launch.command, args: launch.args });
      });
    }

    it(`works for any path: ${client}`, () => {
      const path = fc
        .string({ unit: 'grapheme', minLength: 1 })
        .map((name) => `/${name.replaceAll('\0', '')}`);
      fc.assert(
        fc.property(fc.array(path, { minLength: 1, maxLength: 4 }), (args) => {
          const launch: Launch = { command: 'node', args, platform: 'linux' };
          const started = readBack(client, clientForm(client).write(launch), 'linux');
          assert.deepEqual(started, { command: 'node', args });
        }),
      );
    });
  }

  it('can be imported by Filechat, under a name that hides none of its tools', () => {
    const args = ['/store/assets-server.mjs', '/home/me/My Notes'];
    for (const client of ['claude-desktop', 'cursor', 'windsurf', 'vscode', 'gemini', 'json'] as const) {
      const text = clientForm(client).write({ command: 'node', args, platform: 'linux' });
      const pasted = readPasted(text);
      const [server] = pasted.kind === 'servers' ? pasted.servers : [];
      assert.deepEqual(server, { name: NAME, entry: { command: 'node', args }, ignored: [] });
    }
  });
});

describe('the path of the configuration file', () => {
  const home = (path: string) => [`~/${path}`, `~/${path}`, `%USERPROFILE%\\${path.replaceAll('/', '\\')}`];
  const places: Readonly<Record<McpClient, readonly (string | undefined)[]>> = {
    'claude-desktop': [
      '~/.config/Claude/claude_desktop_config.json',
      '~/Library/Application Support/Claude/claude_desktop_config.json',
      '%APPDATA%\\Claude\\claude_desktop_config.json',
    ],
    'claude-code': [undefined, undefined, undefined],
    cursor: home('.cursor/mcp.json'),
    windsurf: home('.codeium/windsurf/mcp_config.json'),
    vscode: ['.vscode/mcp.json', '.vscode/mcp.json', '.vscode/mcp.json'],
    codex: home('.codex/config.toml'),
    zed: ['~/.config/zed/settings.json', '~/.config/zed/settings.json', '%APPDATA%\\Zed\\settings.json'],
    gemini: home('.gemini/settings.json'),
    json: [undefined, undefined, undefined],
  };
  for (const client of CLIENT_IDS) {
    it(`is written in the style of each system: ${client}`, () => {
      const { place } = clientForm(client);
      assert.deepEqual(
        (['linux', 'darwin', 'win32'] as const).map((system) => place?.(system)),
        places[client],
      );
    });
  }
});
