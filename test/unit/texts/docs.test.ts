/** The pages for users: their links lead somewhere, their examples are valid, and their tables are complete. */
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { describe, it } from 'node:test';
import { parseJsonWithComments } from '../../../src/base/json.ts';
import { readSettingsObject } from '../../../src/base/settings.ts';
import type { Role } from '../../../src/chat/format/chat.ts';
import { readSettings, SETTING_KEYS } from '../../../src/chat/format/frontMatter.ts';
import { nextAction } from '../../../src/chat/format/nextAction.ts';
import { parseChat } from '../../../src/chat/format/parse.ts';
import { COMMANDS, type CommandName, OPTIONS, optionsOf, renderOption } from '../../../src/cli/help.ts';
import { readServers } from '../../../src/mcp/config/readServers.ts';
import { readModels } from '../../../src/model/config/modelConfig.ts';
import { readManifest, readSettingSchemas, readTexts } from '../../kit/manifest.ts';
import { root } from '../../kit/tree.ts';

const read = (path: string) => readFileSync(join(root, path), 'utf8');
const pages = [
  ...['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md', 'src/assetsServer/README.md'],
  ...globSync('docs/*.md', { cwd: root }).map((path) => path.replaceAll('\\', '/')),
];
const REPOSITORY = 'https://github.com/filechat/filechat/blob/main/';

/** Fenced code is not read for links. */
function withoutCode(text: string): string {
  return text
    .replace(/^(`{3,}).*\n[\s\S]*?^\1$/gm, '')
    .replace(/`[^`\n]*`/g, (code) => 'x'.repeat(code.length));
}

function linksOf(page: string): readonly string[] {
  return [...withoutCode(read(page)).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target);
}

/** The anchors that GitHub gives to the headings of a page. */
function anchorsOf(page: string): readonly string[] {
  const text = read(page).replace(/^(`{3,}).*\n[\s\S]*?^\1$/gm, '');
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

function deadLinks(page: string, targets: readonly string[]): readonly string[] {
  return targets.filter((target) => {
    if (/^[a-z]+:/.test(target)) return false;
    const [path = '', anchor] = target.split('#');
    const file = path === '' ? page : posix.join(dirname(page), path);
    if (!existsSync(join(root, file))) return true;
    return anchor !== undefined && !anchorsOf(file).includes(anchor);
  });
}

/** The fences of a page whose info string has this word, with its value. */
function examples(page: string, word: string): ReadonlyMap<string, string> {
  const fences = read(page).matchAll(/^(`{3,})(.*)\n([\s\S]*?)^\1$/gm);
  return new Map(
    [...fences].flatMap(([, , info = '', code = '']) => {
      const [, name] = new RegExp(`\\b${word}(?:=(\\S+))?$`).exec(info) ?? [undefined, undefined];
      return info.includes(word) ? [[name ?? info, code] as const] : [];
    }),
  );
}

/** The cells of the table below a heading, without its head. */
function tableBelow(page: string, heading: string): readonly (readonly string[])[] {
  const text = read(page);
  const start = text.indexOf(`\n## ${heading}\n`);
  assert.ok(start >= 0, `${page} has a section “${heading}”`);
  const lines = text.slice(start).split('\n');
  const first = lines.findIndex((line) => line.startsWith('|---'));
  const end = lines.findIndex((line, at) => at > first && !line.startsWith('|'));
  return lines.slice(first + 1, end).map((line) =>
    line
      .slice(1, -1)
      .split(/(?<!\\)\|/)
      .map((cell) => cell.trim().replaceAll('\\|', '|')),
  );
}

describe('the pages', () => {
  for (const page of pages) {
    it(`${page} has no dead links`, () => assert.deepEqual(deadLinks(page, linksOf(page)), []));
  }

  it('are all linked from the README, which has at most 150 lines', () => {
    const linked = linksOf('README.md');
    assert.deepEqual(
      pages.filter((page) => /^docs\//.test(page) && !linked.includes(page)),
      [],
    );
    assert.ok(read('README.md').split('\n').length <= 151);
  });

  it('are those that the settings link to', () => {
    const links = Object.values(readTexts()).flatMap((text) =>
      [...text.matchAll(/\]\((https:[^)]+)\)/g)].map(([, target = '']) => target),
    );
    assert.ok(links.length > 0);
    for (const link of links) assert.ok(link.startsWith(REPOSITORY), link);
    assert.deepEqual(
      deadLinks(
        '.',
        links.map((link) => link.slice(REPOSITORY.length)),
      ),
      [],
    );
  });

  it('start with the two commands, of which CI runs the second', () => {
    const [commands = ''] = /^```sh\n([\s\S]*?)^```$/m.exec(read('README.md'))?.slice(1) ?? [];
    const [start = '', test = ''] = commands.split('\n').map((line) => line.replace(/ +#.*/, ''));
    assert.deepEqual([start, test], ['npm ci && npm start', 'npm ci && npm test']);
    assert.ok(read('.ci/run').endsWith(`\n${test}\n`));
  });
});

describe('the examples of chats', () => {
  const chats: Readonly<Record<string, readonly [roles: readonly Role[], next: string]>> = {
    whole: [['user', 'assistant', 'tool', 'assistant', 'user'], 'wait'],
    turns: [['system', 'user', 'assistant'], 'wait'],
    'front-matter': [['user'], 'reply'],
    calls: [['user'], 'runTools'],
    attachments: [['user'], 'reply'],
    comments: [['user'], 'reply'],
    result: [['user', 'tool'], 'wait'],
    interrupted: [['user', 'assistant'], 'resume'],
    forged: [['user', 'tool'], 'wait'],
    'chat-md': [['user', 'assistant', 'tool'], 'reply'],
  };
  const written = examples('docs/chat-format.md', 'chat');

  it('are all tested', () => assert.deepEqual([...written.keys()], Object.keys(chats)));

  for (const [name, [roles, next]] of Object.entries(chats)) {
    it(`${name} has its turns and its next step, and no problems`, () => {
      const text = written.get(name) ?? '';
      const chat = parseChat(text);
      assert.deepEqual(
        chat.turns.map(({ role }) => role),
        roles,
      );
      assert.deepEqual([...chat.problems, ...readSettings(chat).problems], []);
      assert.equal(nextAction(text).kind, next);
    });
  }

  it('in the README is a chat', () => {
    const [, text = ''] = /^````markdown\n([\s\S]*?)^````$/m.exec(read('README.md')) ?? [];
    const { turns, problems } = parseChat(text);
    assert.deepEqual(problems, []);
    assert.deepEqual(
      turns[1]?.calls.map(({ id }) => id),
      ['c1'],
    );
  });

  it('show all settings of a chat, which the table describes', () => {
    const { settings } = readSettings(parseChat(written.get('front-matter') ?? ''));
    assert.deepEqual(Object.keys(settings).sort(), [...SETTING_KEYS].sort());
    const rows = tableBelow('docs/chat-format.md', 'Front matter').map(([key = '']) =>
      key.replaceAll('`', ''),
    );
    assert.deepEqual(rows.toSorted(), [...SETTING_KEYS].sort());
  });
});

it('the examples of settings are valid', () => {
  for (const page of ['docs/models.md', 'docs/servers.md', 'docs/command-line.md']) {
    const written = [...examples(page, 'settings').values()];
    assert.equal(written.length, 1, page);
    const { values, problems } = readSettingsObject(parseJsonWithComments(written[0] ?? ''));
    const models = readModels(values['models']).problems;
    const servers = readServers(values['mcpServers'], 'asWritten').problems;
    assert.deepEqual([...problems, ...models, ...servers], [], page);
  }
});

describe('docs/command-line.md', () => {
  const names = Object.keys(COMMANDS) as CommandName[];
  const page = 'docs/command-line.md';

  it('describes every command with its arguments', () => {
    const rows = tableBelow(page, 'Commands').map(([usage = '']) => usage);
    const expected = names.map((name) => {
      const { operands, required } = COMMANDS[name];
      return `\`${['filechat', name, ...operands, ...required.map(renderOption)].join(' ')}\``;
    });
    assert.deepEqual(rows, expected);
  });

  it('describes every option of the parser, with its value and its commands', () => {
    const rows = tableBelow(page, 'Options').map(([option, commands]) => [option, commands]);
    const expected = (Object.keys(OPTIONS) as (keyof typeof OPTIONS)[]).map((option) => {
      const takes = names.filter((name) => optionsOf(name).includes(option));
      return [`\`${renderOption(option)}\``, takes.length === names.length ? 'all' : takes.join(', ')];
    });
    assert.deepEqual(rows, expected);
  });
});

describe('docs/editor.md', () => {
  const { commands, keybindings } = readManifest().contributes;

  it('describes every command with its key', () => {
    const keys = new Map<string, string>(
      keybindings
        .filter(({ key }: { readonly key: string }) => key.startsWith('alt+m '))
        .map(({ command, key }: { readonly command: string; readonly key: string }) => [
          command,
          key
            .slice('alt+m '.length)
            .replace('shift+', '⇧')
            .replace(/[a-z]\w*$/, (word) => word[0]?.toUpperCase() + word.slice(1)),
        ]),
    );
    const expected = commands.map(
      ({ command, title }: { readonly command: string; readonly title: string }) =>
        `${title} | ${keys.get(command)}`,
    );
    const rows = tableBelow('docs/editor.md', 'Commands').map(([title, key]) => `${title} | ${key}`);
    assert.deepEqual(rows.toSorted(), expected.toSorted());
  });

  it('has every setting with its default, in the order of the settings editor', () => {
    const expected = Object.entries(readSettingSchemas()).map(
      ([name, schema]) => `\`${name}\` | \`${JSON.stringify(schema['default'])}\``,
    );
    const rows = tableBelow('docs/editor.md', 'Settings').map(([name, value]) => `${name} | ${value}`);
    assert.deepEqual(rows, expected);
  });
});
