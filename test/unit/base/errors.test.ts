import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fileFailure, readFailure, writeFailure } from '../../../src/base/fileErrors.ts';

const failed = (code: string) => Object.assign(new Error(`${code}: as the system puts it`), { code });

describe('a failed file operation', () => {
  const cases: readonly [code: string, read: string | undefined, write: string | undefined][] = [
    ['ENOENT', 'there is no such file', 'the folder of the chat does not exist'],
    ['ENOTDIR', 'there is no such file', 'the folder of the chat does not exist'],
    [
      'EPERM',
      'permission was denied',
      'permission to write to the folder was denied. Change it and call the tool again',
    ],
    ['EISDIR', 'it is not a regular file', undefined],
    ['ENOSPC', undefined, 'the disk is full. Free some space and call the tool again'],
    ['EROFS', undefined, 'the disk is read-only'],
    ['EIO', undefined, undefined],
  ];
  for (const [code, read, write] of cases) {
    it(`with ${code} has a sentence for reads and writes`, () => {
      assert.equal(readFailure(failed(code)), read);
      assert.equal(writeFailure(failed(code)), write);
    });
  }

  it('without a code is unknown', () => {
    for (const error of [new Error('ENOENT'), 'ENOENT', undefined])
      assert.equal(fileFailure(error), undefined);
  });
});
