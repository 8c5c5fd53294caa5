/** What the code says to users, as far as the tests of its translation need to know. */

/** A literal in code: what it says, with nothing in the place of what is told. */
interface Literal {
  readonly text: string;
  readonly end: number;
  /** A template with `${…}` in it. */
  readonly isFilled: boolean;
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t' };

/** The literal that begins here; nothing when none does. */
function readLiteral(code: string, start: number): Literal | undefined {
  const quote = code[start] ?? '';
  if (!/['"`]/.test(quote)) return undefined;
  let text = '';
  let isFilled = false;
  for (let at = start + 1; at < code.length; at += 1) {
    const character = code[at] ?? '';
    if (character === quote) return { text, end: at + 1, isFilled };
    if (character === '\\') {
      at += 1;
      text += ESCAPES[code[at] ?? ''] ?? code[at];
    } else if (quote === '`' && code.startsWith('${', at)) {
      isFilled = true;
      at = endOfFilled(code, at + 2);
    } else text += character;
  }
  return undefined;
}

/** Where the `}` of a `${…}` stands. */
function endOfFilled(code: string, start: number): number {
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

/** The one place that hands on what others say. */
const HANDS_ON = 'useTranslation(vscode.l10n.t';

/** All that is said through `vscode.l10n.t`, or through the `t` of words.ts; and what is said with no literal. */
export function findMessages(
  path: string,
  code: string,
): { readonly messages: readonly string[]; readonly others: readonly string[] } {
  const messages: string[] = [];
  const others: string[] = [];
  const isNamed =
    /const \{[^}]*\bt\b[^}]*\} = vscode\.l10n;/.test(code) ||
    (path.startsWith('src/vscode/') &&
      /import \{[^}]*\bt\b[^}]*\} from '(?:\.\.?\/)+(?:ui\/)?words\.ts'/.test(code));
  const calls = isNamed ? /(?:\bl10n\.|(?<![\w$.#]))t\(\s*/g : /\bl10n\.t\(\s*/g;
  for (const call of code.matchAll(calls)) {
    const start = call.index + call[0].length;
    const literal = readLiteral(code, start);
    const isWhole = literal && !literal.isFilled && /^\s*[,)]/.test(code.slice(literal.end));
    if (isWhole) messages.push(literal.text);
    else
      others.push(
        code
          .slice(call.index, start + 60)
          .split('\n', 2)
          .join(' '),
      );
  }
  const statements = code.replace(/\/\*[\s\S]*?\*\//g, '').replaceAll(HANDS_ON, '');
  if (/\bl10n\.t\b(?!\()/.test(statements)) others.push('l10n.t is handed on');
  return { messages, others };
}

/** Where words for users stand: in messages, and in the properties of what is shown. */
const SHOWN =
  /(?:\bshow(?:Information|Warning|Error)Message\(|\bsetStatusBarMessage\(|\b(?:title|placeHolder|placeholder|prompt|tooltip|description|detail|label|openLabel|saveLabel|validationMessage)(?::| =|\s*\?\?=?)|\bnew vscode\.(?:TreeItem|MarkdownString|CodeAction)\()\s*(?=['"`])/g;

/** Names of products, and what is typed into a terminal, are the same in every language. */
const SAME_EVERYWHERE = new Set([
  'Filechat',
  'VS Code',
  'npx -y @modelcontextprotocol/server-filesystem "/my/folder"',
]);

/** Words for users that no translation is asked for. */
export function findUntranslated(code: string): readonly string[] {
  return [...code.matchAll(SHOWN)].flatMap((found) => {
    const literal = readLiteral(code, found.index + found[0].length);
    // Icons are no words.
    const words = literal?.text.replace(/\$\([\w~-]+\)/g, '').trim() ?? '';
    const isSaid = /\p{L}{2,}\s|\s\p{L}{2,}|^\p{Lu}\p{L}+/u.test(words);
    return isSaid && !SAME_EVERYWHERE.has(words) ? [words] : [];
  });
}
