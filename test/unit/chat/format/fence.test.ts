import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { readMarker } from '../../../../src/chat/format/chat.ts';
import { FenceReader } from '../../../../src/chat/format/fence.ts';

it('a line that passes by its first character would have changed nothing', () => {
  const line = fc.constantFrom(
    ...'text¦x -->¦¦\r¦- item¦  ```¦```js¦```¦~~~¦> ```¦<!--¦-->¦1. ```¦# %% user¦    code'.split('¦'),
    ...'Ünder¦\u00a0x¦日本¦{¦"a"¦\u3000¦\ufeff```¦`¦> a¦\t```'.split('¦'),
  );
  fc.assert(
    fc.property(fc.array(line, { maxLength: 25 }), (lines) => {
      const fast = new FenceReader();
      const slow = new FenceReader();
      for (const each of lines) {
        const passed = fast.stepFast(`${each}\n`.charCodeAt(0));
        const state = slow.step(each);
        if (passed) {
          assert.ok(state === 'inside' || state === 'outside', each);
          assert.equal(readMarker(each), undefined);
        } else assert.equal(fast.step(each), state, each);
        assert.deepEqual(fast.open, slow.open);
        assert.equal(fast.inComment, slow.inComment);
      }
    }),
    { numRuns: 400 },
  );
});
