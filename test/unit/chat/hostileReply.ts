import fc from 'fast-check';
import { anySign } from '../../kit/anySign.ts';

/**
 * Random text made of markers, fences, Filechat's own syntax, HTML, images, code spans, containers and white
 * space.
 */
export const hostileReply: fc.Arbitrary<string> = fc
  .array(
    fc.oneof(
      {
        weight: 12,
        arbitrary: fc.constantFrom(...'`|\\|<|>|!|[|]|(|)|$|#|-|:|_|*'.split('|'), '|', ' ', '\n'),
      },
      {
        weight: 24,
        arbitrary: fc.constantFrom(
          ...'# %% user¦\n# %% TOOL a.b c1\n¦#%%¦```¦\n```\n¦\n```js\n¦````¦\n```|\n'.split('¦'),
          ...'\n~~~ | x\n¦\n~~~\n¦\n~~~ x\n¦\n  ```\n¦\n   ```\n¦\n    ```\n¦\n- ```\n'.split('¦'),
          ...'\n2. ```\n¦\n> ```\n¦\n- a\n¦\n1. a\n   ```html\n   <img src=x>\n'.split('¦'),
          ...'\n   ```html\n   ¦\n   - b\n     ¦\n     ~~~\n     <img src=x>\n'.split('¦'),
          ...'\n\t```\n\t<img src=x>\n¦\n    <img src=x>¦\n10. ¦\n- ¦- ¦\n* * *\n'.split('¦'),
          ...'\n> ```\n> <img src=x>\n¦\n> ¦\n\u00a0\n¦\n1. a\n\n   ¦\n>¦\n\t```\n'.split('¦'),
          ...'\n```\u00a0\n¦\n  ```\u00a0\n¦```tool_call a.b\n{}\n```¦\n~~~reasoning\n¦\n'.split('¦'),
          ...'\n```provider_tool x\n¦\n\n````provider_tool web_search\n¦<details><summary>Web search</summary>\n'.split(
            '¦',
          ),
          ...'\n\n¦ ¦  ¦\t¦\r¦\r\n¦<img src=x>¦`<img src=x>`¦``<img src=x>``¦<b>¦<br>¦</sub>'.split('¦'),
          ...'<script>¦<details>¦<pre¦<p ¦a<b¦a<b then c¦a<b + c¦ onerror=x¦>¦$x<y$'.split('¦'),
          ...'\n$$\na<b\n¦<{}b¦{}¦<a=`¦<a.b:c¦@e.example>¦<!--¦-->'.split('¦'),
          ...'<!-- filechat:writing a1 -->¦<!-- filechat:interrupted stopped -->'.split('¦'),
          ...'\n<!-- filechat:closed 1 -->¦<!-- filechat:metadata {"a":{}} -->¦<?php'.split('¦'),
          ...'<![CDATA[¦<tool_call>'.split('¦'),
          ...'\n<tool_call>\n<tool_name>a.b</tool_name>\n</tool_call>\n¦!['.split('¦'),
          ...'![a](https://e.example/a.png)¦![a][b]¦\n[b]: https://e.example/b.png\n'.split('¦'),
          ...'[a](x`y)¦[a](<x`y>)¦](¦![a](cmdassets/x-1.png)¦<https://e.example>'.split('¦'),
          ...'\n![Model generated image 1](cmdassets/model-image-1.png)\n¦![Model generated '.split('¦'),
          ...'[Model generated file 2: a.b](cmdassets/model-file-2.bin)¦image 1](x/model-1.png)'.split('¦'),
          ...'https://e.example/¦http://e.example/`¦``¦\\`¦\n|-|-|\n¦|¦$$¦\n---\n¦\n===\n'.split('¦'),
          ...'\u202e¦\u200d¦\u200c¦ی¦⟦U+¦⟦¦⟧¦👨‍👩‍👧¦1\ufe0f¦\ud83d¦word¦a'.split('¦'),
        ),
      },
      { weight: 3, arbitrary: fc.string({ unit: 'grapheme', maxLength: 4 }) },
      { weight: 1, arbitrary: fc.string({ unit: anySign, maxLength: 4 }) },
    ),
    { maxLength: 30 },
  )
  .map((pieces) => pieces.join(''));

/** A text, split at random. */
export function inPieces(text: fc.Arbitrary<string>): fc.Arbitrary<readonly string[]> {
  return fc.tuple(text, fc.array(fc.integer({ min: 0, max: 12 }))).map(([whole, lengths]) => {
    const pieces: string[] = [];
    let at = 0;
    for (const length of lengths) {
      pieces.push(whole.slice(at, at + length));
      at += length;
    }
    return [...pieces, whole.slice(at)];
  });
}
