import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { findMessages, findUntranslated } from '../kit/l10n.ts';
import { readTexts } from '../kit/manifest.ts';

const root = join(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .map((path) => join('src', path).replaceAll('\\', '/'));

/** The names of what is told: `{0}`. */
const places = (text: string) => [...text.matchAll(/\{\d+\}/g)].map(([place]) => place).sort();
/** Where links lead to: `(command:…)`. */
const links = (text: string) => [...text.matchAll(/\]\(([^)]*)\)/g)].map(([, target]) => target);

describe('the messages of the code', () => {
  const found = sources.map((path) => ({ path, ...findMessages(path, read(path)) }));
  const messages = new Set(found.flatMap((each) => each.messages));
  const german: Readonly<Record<string, string>> = JSON.parse(read('l10n/bundle.l10n.de.json'));

  it('are each one literal, so that they can be found and translated as a whole', () => {
    assert.deepEqual(
      found.flatMap(({ path, others }) => others.map((other) => `${path}: ${other}`)),
      [],
    );
    assert.ok(messages.size > 200);
  });

  it('are all in German', () => {
    const missing = [...messages].filter((message) => german[message] === undefined);
    assert.deepEqual(missing, []);
  });

  it('are all that is in German', () => {
    const unused = Object.keys(german).filter((message) => !messages.has(message));
    assert.deepEqual(unused, []);
  });

  it('tell the same in both languages', () => {
    for (const [english, other] of Object.entries(german)) {
      assert.notEqual(other, '', english);
      assert.deepEqual(places(other), places(english), english);
      // Marks and icons at the edges are what the code around them relies on.
      assert.equal(/\s$/.test(other), /\s$/.test(english), english);
      assert.equal(/^\$\(/.test(other), /^\$\(/.test(english), english);
    }
  });

  it('are no words that bypass the translation', () => {
    const shown = sources.filter((path) => /^src\/(?:vscode\/|extension\.ts)/.test(path));
    assert.deepEqual(
      shown.flatMap((path) => findUntranslated(read(path)).map((words) => `${path}: ${words}`)),
      [],
    );
  });
});

describe('the texts of package.json', () => {
  const manifest = read('package.json');
  const keys = [...manifest.matchAll(/"%([^"%]+)%"/g)].map(([, key = '']) => key);
  const english = readTexts();
  const german = readTexts('de');

  it('are all there in both languages, and nothing else is', () => {
    assert.deepEqual(Object.keys(english).sort(), [...new Set(keys)].sort());
    assert.deepEqual(Object.keys(german).sort(), [...new Set(keys)].sort());
  });

  it('have the same links and the same code in both languages', () => {
    const code = (text: string) => [...text.matchAll(/`[^`]*`/g)].map(([span]) => span);
    for (const [key, text] of Object.entries(english)) {
      assert.deepEqual(links(german[key] ?? ''), links(text), key);
      assert.deepEqual(code(german[key] ?? ''), code(text), key);
    }
  });

  it('are nowhere written out', () => {
    const left: string[] = [];
    const shown =
      /^(?:displayName|title|shortTitle|name|contextualTitle|label|contents|altText|(?:markdownD|d)escription|(?:markdownE|e)numDescriptions|(?:deprecation|error)Message)$/;
    const look = (name: string, value: unknown): void => {
      if (typeof value === 'string') {
        if (shown.test(name) && !/^%[^%]+%$/.test(value)) left.push(`${name}: ${value}`);
      } else if (Array.isArray(value)) {
        for (const each of value) look(name, each);
      } else if (typeof value === 'object' && value !== null) {
        for (const [key, each] of Object.entries(value)) look(key, each);
      }
    };
    const { displayName, description, capabilities, contributes } = JSON.parse(manifest);
    look('', { displayName, description, capabilities, contributes });
    assert.deepEqual(left, []);
  });
});
