import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { parseChat } from '../../src/chat/format/parse.ts';
import { readManifest, readSettingSchemas, readSettingsGroups } from '../kit/manifest.ts';

interface MenuItem {
  readonly command: string;
  readonly when?: string;
  readonly group?: string;
}

interface Keybinding {
  readonly command: string;
  readonly key: string;
  readonly mac?: string;
  readonly when?: string;
}

interface Step {
  readonly id: string;
  readonly description: string;
  readonly media: { readonly svg: string; readonly altText: string };
  readonly completionEvents: readonly string[];
}

const root = join(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const { contributes, ...manifest } = readManifest();
const commands: readonly { command: string; title: string; category: string; icon?: string }[] =
  contributes.commands;
const ids = commands.map(({ command }) => command);
const menus: Readonly<Record<string, readonly MenuItem[]>> = contributes.menus;
const keybindings: readonly Keybinding[] = contributes.keybindings;

/** Commands that are always available. */
const ALWAYS_THERE =
  /^(?:showCall|newChat|openSample|openWalkthrough|selectModel|showMenu|setApiKey|show(?:Audit|Server)?Log|forgetPermissions|forgetModelLimits|openServerSettings|copyMcpConfiguration)$/;

/** Commands that do nothing without trust. Run is not among them, because the context key of trust is set late. */
const NEEDS_TRUST =
  /^(?:callTool|readResource|insertPrompt|openResource|(?:add|edit|remove)Server|(?:re)?startServer|stopServer|setServerLogLevel|changeInputs|signOut)$/;

const LITTLE_WORDS = /^(?:a|an|the|of|at|in|into|to|with|about|and|or)$/;

describe('the commands in package.json', () => {
  for (const { command, title, category } of commands) {
    it(`${command} has its category and a title in title case`, () => {
      assert.equal(category, 'Filechat');
      const words = title.split(' ');
      const wrong = words.filter(
        (word, at) =>
          !/^[A-Z]/.test(word) && (at === 0 || at === words.length - 1 || !LITTLE_WORDS.test(word)),
      );
      assert.deepEqual(wrong, []);
    });
  }

  it('share names with those of chat.md only where the contract fixes them', () => {
    const rival = JSON.parse(read('test/host/rival-extension/package.json'));
    const taken: readonly { command: string }[] = rival.contributes.commands;
    const shared = ids.filter((id) => taken.some(({ command }) => command === id));
    assert.deepEqual(shared, ['filechat.newChat', 'filechat.insertPrompt']);
  });

  it('are in the palette once, and only where they are available', () => {
    const palette = menus['commandPalette'] ?? [];
    const hidden = palette.map(({ command }) => command);
    assert.deepEqual(hidden, [...new Set(hidden)]);
    for (const id of ids) {
      const name = id.replace('filechat.', '');
      const when = palette.find(({ command }) => command === id)?.when;
      assert.equal(when === undefined, ALWAYS_THERE.test(name), `${id}: when ${when}`);
      assert.notEqual(when, 'false', id);
      // The editor's own context key for trust is set late; Filechat's is set only when trust is known to be missing.
      assert.equal(when === '!filechat.untrusted', NEEDS_TRUST.test(name), `${id}: when ${when}`);
    }
  });

  it('copy the configuration for other clients from the menus of both views', () => {
    const entry = menus['view/title']?.find(({ command }) => command === 'filechat.copyMcpConfiguration');
    assert.equal(entry?.when, 'view == filechat.chats || view == filechat.servers');
  });

  it('are those of the table of commands', () => {
    const table = read('src/vscode/commands.ts').matchAll(/^ {2}(\w+): \(/gm);
    const names = [...table].map(([, name]) => `filechat.${name}`);
    assert.deepEqual([...names, 'filechat.copyMcpConfiguration'].sort(), [...ids].sort());
  });

  it('have one chord each', () => {
    const chords = keybindings.filter(({ key }) => key.startsWith('alt+m '));
    assert.deepEqual(chords.map(({ command }) => command).sort(), [...ids].sort());
    assert.equal(new Set(chords.map(({ key }) => key)).size, chords.length, 'two commands share a key');
    for (const { command, key, mac } of chords) {
      assert.match(key, /^alt\+m (?:(?:shift\+)?[a-z]|f\d|delete|enter|backspace)$/, command);
      // Ctrl+Alt is AltGr on Windows, and Alt alone types a letter on a Mac.
      assert.equal(mac, `ctrl+${key}`, command);
    }
  });

  it('do not use Escape, and use other keys only in a chat or in their view', () => {
    for (const { command, key, mac, when } of keybindings) {
      assert.doesNotMatch(`${key} ${mac}`, /escape/i, command);
      if (!key.startsWith('alt+m ')) assert.match(when ?? '', /chat\\\.md|focusedView/, command);
    }
  });

  it('have an icon exactly where one is shown', () => {
    const drawn = new Set(
      Object.values(menus)
        .flat()
        .filter(({ group }) => /^(?:navigation|inline)/.test(group ?? ''))
        .map(({ command }) => command),
    );
    const withIcon = commands.filter(({ icon }) => icon !== undefined).map(({ command }) => command);
    assert.deepEqual(withIcon.sort(), [...drawn].sort());
  });

  it('are the only ones that menus, keys and views use', () => {
    const linked = [...JSON.stringify(contributes).matchAll(/command:(filechat\.\w+)(?=[)?])/g)];
    const named = [...Object.values(menus).flat(), ...keybindings].map(({ command }) => command);
    const unknown = [...named, ...linked.map(([, id]) => id)].filter((id) => !ids.includes(id ?? ''));
    assert.deepEqual(unknown, []);
  });
});

describe('the settings in package.json', () => {
  const groups = readSettingsGroups();
  const schemas = readSettingSchemas();

  it('are in five groups, in this order', () => {
    const titles = groups.toSorted((one, other) => one.order - other.order).map(({ title }) => title);
    assert.deepEqual(titles, ['Chat', 'Models', 'Servers', 'Results', 'Privacy']);
  });

  it('have the order in which they are written', () => {
    for (const { title, properties } of groups) {
      const orders = Object.values(properties).map(({ order }) => order);
      assert.deepEqual(
        orders,
        orders.map((_, at) => at + 1),
        title,
      );
    }
  });

  for (const [name, { markdownDescription, enum: values = [], enumDescriptions = [] }] of Object.entries(
    schemas,
  )) {
    it(`${name} has one sentence, then links to what is related`, () => {
      const [sentence = '', related = '', ...more] =
        String(markdownDescription).split(/(?<=\.) (?=Related: )/);
      assert.deepEqual(more, []);
      assert.doesNotMatch(sentence, /\. [A-Z]/);
      assert.match(related, /\]\(command:|`#[\w.]+#`|\]\(https:/);
      assert.equal((enumDescriptions as unknown[]).length, (values as unknown[]).length);
      for (const [, other = ''] of related.matchAll(/`#(filechat\.[\w.]+)#`/g)) {
        assert.ok(schemas[other] !== undefined && other !== name, other);
      }
    });
  }

  it('that start, send or loosen something cannot be set by a workspace that is not trusted', () => {
    const { restrictedConfigurations } = manifest.capabilities.untrustedWorkspaces;
    const free = Object.keys(schemas).filter((name) => !restrictedConfigurations.includes(name));
    assert.deepEqual(free.sort(), [
      'filechat.autoSave',
      'filechat.nameChats',
      'filechat.results.maxAssetBytes',
      'filechat.results.maxInlineChars',
      'filechat.timeoutSeconds',
    ]);
  });
});

describe('the first steps in package.json', () => {
  const [walkthrough] = contributes.walkthroughs;
  const steps: readonly Step[] = walkthrough.steps;

  it('have the id that the command opens', () => {
    assert.equal(`${manifest.publisher}.${manifest.name}#${walkthrough.id}`, 'filechat.filechat#start');
  });

  for (const { id, description, media, completionEvents } of steps) {
    it(`${id} has an image in the colors of the theme, and is completed by its commands`, () => {
      const svg = read(media.svg);
      assert.match(svg, /var\(--vscode-/);
      assert.doesNotMatch(svg, /#[0-9a-f]{3,8}\b|<script|href/i);
      assert.ok(media.altText.length > 20);
      for (const [, command] of description.matchAll(/command:(filechat\.\w+)[)?]/g)) {
        // A cancelled command completes nothing where the outcome is a setting.
        const isSetting = completionEvents.some((event) => event.startsWith('onSettingChanged:'));
        assert.ok(isSetting || completionEvents.includes(`onCommand:${command}`), command);
      }
      // Looking at a view is not doing what the step is about.
      assert.deepEqual(
        completionEvents.filter((event) => event.startsWith('onView:')),
        [],
      );
    });
  }
});

describe('the package', () => {
  const shipped = read('.vscodeignore');

  it('has all images and samples, and an icon of the right size', () => {
    for (const path of [
      'package.nls.json',
      'package.nls.de.json',
      'l10n/**',
      'media/icon.png',
      'media/snippets.json',
      'media/walkthrough/**',
      'samples/*.chat.md',
    ]) {
      assert.ok(shipped.includes(`!${path}\n`), path);
    }
    const icon = readFileSync(join(root, manifest.icon));
    assert.deepEqual([icon.readUInt32BE(16), icon.readUInt32BE(20)], [128, 128]);
  });

  it('has exactly the samples of the list', () => {
    const rows = [...read('src/vscode/chats/chats.ts').matchAll(/\[\s*'(\w+)',\s*'[\w-]+',\s*t\(/g)].map(
      ([, name]) => name,
    );
    const files = readdirSync(join(root, 'samples')).filter((name) => name.endsWith('.chat.md'));
    assert.deepEqual(rows.toSorted(), files.map((name) => name.replace('.chat.md', '')).sort());
  });

  it('has snippets that are chats, and that no typed word brings up', () => {
    const snippets: Record<string, { prefix?: string; body: string[] }> = JSON.parse(
      read('media/snippets.json'),
    );
    for (const [name, { prefix, body }] of Object.entries(snippets)) {
      // The word “system” matches “chat-system”: Enter after `# %% system` inserted a second marker.
      assert.equal(prefix, undefined, name);
      const text = body
        .join('\n')
        .replace(/\$\{\d+[:|]([^},|]*)[^}]*\}/g, '$1')
        .replace(/\$\d/g, '');
      assert.deepEqual(parseChat(`${text}\n`).problems, [], name);
    }
    const call = snippets['Chat: Tool Call']?.body.join('\n') ?? '';
    const plain = call.replace(/\$\{\d:(\w+)\}/g, '$1').replace('$0', '');
    assert.equal(parseChat(`# %% user\n${plain}\n`).turns[0]?.calls[0]?.tool, 'tool');
  });

  it('names only existing files', () => {
    for (const { path } of contributes.snippets) assert.ok(existsSync(join(root, path)), path);
    assert.deepEqual(manifest.extensionKind, ['workspace']);
  });
});

it('a workspace can change only whether chats are saved and named', () => {
  const scopes = Object.entries(readSettingSchemas()).map(([name, { scope }]) => [name, scope] as const);
  assert.deepEqual(
    scopes.filter(([, scope]) => scope !== 'application').map(([name]) => name.replace('filechat.', '')),
    ['autoSave', 'nameChats'],
  );
});
