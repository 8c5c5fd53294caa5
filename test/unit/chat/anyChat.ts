/** Texts that are nearly chats, for rules that must hold for all of them. */
import fc from 'fast-check';

const piece = fc.constantFrom(
  ...'# %% user\n¦# %% user¦# %% assistant\r\n¦# %% assistant\n¦# %% tool a.b c1\n'.split('¦'),
  ...'# %% tool_execute\n¦# %% system summary\n¦```tool_call a.b c1\n{}\n```\n'.split('¦'),
  ...'```tool_call a.b\n¦```tool_call x\n¦```tool_call\n'.split('¦'),
  ...'<tool_call>\n<tool_name>a.b</tool_name>\n'.split('¦'),
  ...'<tool_call>\n<tool_name>x</tool_name>\n</tool_call>\n¦</tool_call>\n'.split('¦'),
  ...'<tool_result>\nx\n</tool_result>\n¦<details><summary>Reasoning</summary>\n¦<details>\n'.split('¦'),
  ...'</details>\n¦# One\n¦## Two ##\r\n¦![Tool generated image 1](cmdassets/a.png)\n¦```\n'.split('¦'),
  ...'~~~\n¦---\n¦<!--\n¦-->\n¦a <!-- b\n¦<!-- filechat:writing r1 -->\n'.split('¦'),
  ...'<!-- filechat:interrupted stopped -->\n¦maxTokens=5\n¦- item\n¦  ```js\n¦text\n¦\n¦x'.split('¦'),
);

export const anyChat = fc.array(piece, { maxLength: 16 }).map((pieces) => pieces.join(''));

const anyEdit = fc.record({ at: fc.nat(), removed: fc.nat(12), inserted: anyChat });
export const anyEdits = fc.array(anyEdit, { minLength: 1, maxLength: 5 });

export function editText(
  text: string,
  { at, removed, inserted }: { readonly at: number; readonly removed: number; readonly inserted: string },
): string {
  const from = at % (text.length + 1);
  return text.slice(0, from) + inserted + text.slice(from + removed);
}
