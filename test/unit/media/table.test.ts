import assert from 'node:assert/strict';
import { it } from 'node:test';
import { isAllowedType } from '../../../src/media/table.ts';

it('types are allowed by name, by synonym, by group, or all', () => {
  const cases: readonly (readonly [type: string, patterns: readonly string[], allowed: boolean])[] = [
    ['image/png', ['*/*'], true],
    ['image/png', ['*'], true],
    ['image/png', ['image/*'], true],
    ['image/png', [' IMAGE/PNG '], true],
    ['Image/PNG; q=1', ['image/png'], true],
    ['image/png', ['text/*', 'image/jpeg'], false],
    ['image/png', ['image'], false],
    ['image/png', [], false],
    ['video/vnd.avi', ['video/x-msvideo'], true],
    ['audio/mp3', ['audio/mpeg'], true],
    ['application/x-own', ['application/x-own'], true],
    // The usual type of a synonym decides about its group.
    ['text/json', ['text/*'], false],
    ['application/ogg', ['audio/*'], true],
  ];
  for (const [type, patterns, allowed] of cases)
    assert.equal(isAllowedType(type, patterns), allowed, `${type} in ${patterns}`);
});
