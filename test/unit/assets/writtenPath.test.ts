import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isRemotePath, writtenPathProblem } from '../../../src/assets/confined.ts';

describe('a written path on Windows', () => {
  const cases: readonly (readonly [problem: string | undefined, ...written: string[]])[] = [
    [undefined, 'a.png', 'a b/c.png', 'a\\b.png', 'C:\\a\\b.png', 'c:/a', '../a', '..\\a', './a', '.hidden'],
    [undefined, 'console.txt', 'sub\\nullable', 'com.txt', 'a.nul', ''],
    ['it has a drive without a folder', 'c:a.png', 'C:', 'c:..\\a'],
    ['it contains a colon', 'a.txt:stream', 'C:\\a:b', 'ab::$DATA'],
    ['a name in it ends with a dot or a space', 'a.', 'a ', 'a.\\b', 'a /b', '.../b', 'sub\\...\\b'],
    [
      'it names a device',
      'nul',
      'CON',
      'aux.txt',
      'sub/com1',
      'sub\\LPT9.log',
      'C:\\nul\\a',
      'com¹',
      'conin$',
    ],
  ];
  for (const [problem, ...paths] of cases) {
    for (const written of paths) {
      it(`${JSON.stringify(written)}: ${problem ?? 'no problem'}`, () => {
        assert.equal(writtenPathProblem(written, 'win32'), problem);
      });
    }
  }
});

it('elsewhere, only a drive is a problem', () => {
  for (const written of ['a.', 'nul', 'ab:c', 'x/con', '//a/b'])
    assert.equal(writtenPathProblem(written, 'linux'), undefined);
  assert.equal(writtenPathProblem('C:\\a', 'linux'), 'it is a Windows path');
});

it('shares and devices of Windows are remote', () => {
  for (const path of ['\\\\server\\share\\a', '//server/share', '\\\\.\\pipe\\a', '\\\\?\\C:\\a']) {
    assert.equal(isRemotePath(path, 'win32'), true, path);
    assert.equal(isRemotePath(path, 'linux'), false, path);
  }
  assert.equal(isRemotePath('C:\\a', 'win32'), false);
});
