import assert from 'node:assert/strict';
import { it } from 'node:test';
import { mergeVariables } from '../../../../src/mcp/spill/stdio.ts';

const BASE = { PATH: 'C:\\Windows', TEMP: 'C:\\Temp' };

it('on Windows, a variable replaces one whose name differs only in case', () => {
  assert.deepEqual(mergeVariables(BASE, { Path: 'C:\\Node', KEY: '1' }, 'win32'), {
    TEMP: 'C:\\Temp',
    Path: 'C:\\Node',
    KEY: '1',
  });
});

it('on other systems, names are case-sensitive', () => {
  assert.deepEqual(mergeVariables(BASE, { Path: '/x', PATH: '/y' }, 'linux'), {
    PATH: '/y',
    TEMP: 'C:\\Temp',
    Path: '/x',
  });
});
