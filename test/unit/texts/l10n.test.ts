import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { readTexts } from '../../kit/manifest.ts';

const root = join(import.meta.dirname, '../../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .map((path) => join('src', path).replaceAll('\\', '/'));

/** The placeholders, such as `{0}`. */
const places = (text: string) => [...text.matchAll(/\{\d+\}/g)].map(([place]) => place).sort();
/** The targets of links: `(command:…)`. */
const links = (text: string) => [...text.matchAll(/\]\(([^)]*)\)/g)].map(([, target]) => target);

/** A string literal in code. */
interface Literal {
  readonly text: string;
  readonly end: number;
  /** Whether it is a template with `${…}`. */
  readonly hasValues: boolean;
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t' };

/** Undefined if no literal begins here. */
function readLiteral(code: string, start: number): Literal | undefined {
  const quote = code[start] ?? '';
  if (!/['"`]/.test(quote)) return undefined;
  let text = '';
  let hasValues = false;
  for (let at = start + 1; at < code.length; at += 1) {
    const character = code[at] ?? '';
    if (character === quote) return { text, end: at + 1, hasValues };
    if (character === '\\') {
      at += 1;
      text += ESCAPES[code[at] ?? ''] ?? code[at];
    } else if (quote === '`' && code.startsWith('${', at)) {
      hasValues = true;
      at = endOfValue(code, at + 2);
    } else text += character;
  }
  return undefined;
}

/** The offset of the `}` of a `${…}`. */
function endOfValue(code: string, start: number): number {
  let depth = 1;
  let at = start;
  for (; at < code.length; at += 1) {
    const inner = readLiteral(code, at);
    if (inner) at = inner.end - 1;
    else if (code[at] === '{') depth += 1;
    else if (code[at] === '}') depth -= 1;
    if (depth === 0) break;
  }
  return at;
}

/** The only place that may pass the function on. */
const PASSES_ON = 'useTranslation(vscode.l10n.t';

/** The messages in calls of `vscode.l10n.t`, of `t` in words.ts or of a `t: Translate`, and the calls without a literal. */
function findMessages(
  path: string,
  code: string,
): { readonly messages: readonly string[]; readonly others: readonly string[] } {
  const messages: string[] = [];
  const others: string[] = [];
  const importsT =
    /const \{[^}]*\bt\b[^}]*\} = vscode\.l10n;/.test(code) ||
    (path.startsWith('src/vscode/') &&
      /import \{[^}]*\bt\b[^}]*\} from '(?:\.\.?\/)+(?:ui\/)?words\.ts'/.test(code)) ||
    // The core gets the function as an argument.
    /\bt: Translate\b/.test(code);
  const calls = importsT ? /(?:\bl10n\.|(?<![\w$.#]))t\(\s*/g : /\bl10n\.t\(\s*/g;
  for (const call of code.matchAll(calls)) {
    const start = call.index + call[0].length;
    const literal = readLiteral(code, start);
    const isWhole = literal && !literal.hasValues && /^\s*[,)]/.test(code.slice(literal.end));
    if (isWhole) messages.push(literal.text);
    else others.push(code.slice(call.index, start + 60).replace('\n', ' '));
  }
  const statements = code.replace(/\/\*[\s\S]*?\*\//g, '').replaceAll(PASSES_ON, '');
  if (/\bl10n\.t\b(?!\()/.test(statements)) others.push('l10n.t is passed on');
  return { messages, others };
}

/** Places of text for users: messages, and properties of UI elements. */
const SHOWN =
  /(?:\bshow(?:Information|Warning|Error)Message\(|\bsetStatusBarMessage\(|\b(?:title|placeHolder|placeholder|prompt|tooltip|description|detail|label|openLabel|saveLabel|validationMessage)(?::| =|\s*\?\?=?)|\bnew vscode\.(?:TreeItem|MarkdownString|CodeAction)\()\s*(?=['"`])/g;

/** Names of products and text for a terminal are the same in every language. */
const SAME_EVERYWHERE = new Set([
  'Filechat',
  'VS Code',
  'npx -y @modelcontextprotocol/server-filesystem "/my/folder"',
]);

/** Texts for users that bypass the translation. */
function findUntranslated(code: string): readonly string[] {
  return [...code.matchAll(SHOWN)].flatMap((found) => {
    const literal = readLiteral(code, found.index + found[0].length);
    // Without icons.
    const words = literal?.text.replace(/\$\([\w~-]+\)/g, '').trim() ?? '';
    const isText = /\p{L}{2,}\s|\s\p{L}{2,}|^\p{Lu}\p{L}+/u.test(words);
    return isText && !SAME_EVERYWHERE.has(words) ? [words] : [];
  });
}

describe('the messages of the code', () => {
  const found = sources.map((path) => ({ path, ...findMessages(path, read(path)) }));
  const messages = new Set(found.flatMap((each) => each.messages));
  const german: Readonly<Record<string, string>> = JSON.parse(read('l10n/bundle.l10n.de.json'));

  it('are one literal each, so that they can be found and translated as a whole', () => {
    assert.deepEqual(
      found.flatMap(({ path, others }) => others.map((other) => `${path}: ${other}`)),
      [],
    );
    assert.ok(messages.size > 200);
  });

  it('are all translated into German', () => {
    const missing = [...messages].filter((message) => german[message] === undefined);
    assert.deepEqual(missing, []);
  });

  it('are the only ones that are translated into German', () => {
    const unused = Object.keys(german).filter((message) => !messages.has(message));
    assert.deepEqual(unused, []);
  });

  it('have the same placeholders in both languages', () => {
    for (const [english, other] of Object.entries(german)) {
      assert.notEqual(other, '', english);
      assert.deepEqual(places(other), places(english), english);
      // The code depends on spaces and icons at the edges.
      assert.equal(/\s$/.test(other), /\s$/.test(english), english);
      assert.equal(/^\$\(/.test(other), /^\$\(/.test(english), english);
    }
  });

  it('are the only texts for users: none bypasses the translation', () => {
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

  it('are complete in both languages, without unused ones', () => {
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

  it('are never written in package.json itself', () => {
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
