import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findWindowsCommand } from '../../../../src/mcp/spill/stdio.ts';

const env = { Path: '.;C:\\node;;tools;D:\\bin', PathExt: '.EXE;.CMD' };
const find = (command: string, ...files: readonly string[]) =>
  findWindowsCommand(command, env, (path) => files.includes(path));

test('a command is found on the PATH, in its order', () => {
  assert.equal(find('npx', 'D:\\bin\\npx.EXE', 'C:\\node\\npx.CMD'), 'C:\\node\\npx.CMD');
  assert.equal(find('npx.cmd', 'C:\\node\\npx.cmd', 'C:\\node\\npx.cmd.EXE'), 'C:\\node\\npx.cmd');
});

test('a command is never found in the current folder', () => {
  for (const here of ['npx.CMD', '.\\npx.CMD', 'tools\\npx.CMD'])
    assert.throws(() => find('npx', here), { code: 'ENOENT' });
});

test('a path is used as it is', () => {
  for (const path of ['C:\\x\\y.exe', '.\\y.exe', 'a/b']) assert.equal(find(path), path);
});
