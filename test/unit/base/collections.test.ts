import assert from 'node:assert/strict';
import { it } from 'node:test';
import { RecentValues } from '../../../src/base/collections.ts';

it('values are created once, and the least recently used one is dropped', () => {
  const created: string[] = [];
  const values = new RecentValues<string>(2);
  const get = (key: string) =>
    values.get(key, () => {
      created.push(key);
      return key;
    });
  for (const key of ['a', 'b', 'a', 'c', 'a', 'b']) assert.equal(get(key), key);
  assert.deepEqual(created, ['a', 'b', 'c', 'b']);
});
