import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { hasFormat, isTextFormat } from '../../../../src/mcp/schema/answer.ts';
import type { TextFormat } from '../../../../src/mcp/schema/question.ts';

const RIGHT: Readonly<Record<TextFormat, readonly string[]>> = {
  email: ['a@b.c', 'ada.lovelace+x@example.co.uk', 'me@localhost', 'ü@münchen.de'],
  uri: ['https://example.com/a?b=c#d', 'mailto:ada@example.com', 'urn:isbn:0451450523', 'http://[::1]:80/'],
  date: ['2026-01-31', '2024-02-29', '0001-01-01'],
  'date-time': ['2026-01-31T12:00:00Z', '2026-01-31t23:59:60.123456789+05:30'],
};

const WRONG: Readonly<Record<TextFormat, readonly string[]>> = {
  email: ['', '@b.c', 'a@', 'a b@c.d', 'a@b@c.d', 'a@b..c', 'a@-b.c', 'a@b.c ', `${'a'.repeat(100_000)}@b.c`],
  uri: ['', 'example.com', '/path', 'https://', 'https://a b', 'https://a/<b>', ':x'],
  date: [
    '',
    '2026-1-31',
    '2026-02-30',
    '2025-02-29',
    '2026-13-01',
    '31.01.2026',
    '2026-01-31T00:00:00Z',
    '2026-01-31 ',
  ],
  'date-time': [
    '2026-01-31',
    '2026-01-31T12:00Z',
    '2026-01-31T12:00:00',
    '2026-01-31T24:00:00Z',
    '2026-01-31 12:00:00Z',
  ],
};

for (const format of ['email', 'uri', 'date', 'date-time'] as const) {
  describe(`the format ${format}`, () => {
    for (const text of RIGHT[format]) test(`has: ${text}`, () => assert.ok(hasFormat(format, text)));
    for (const text of WRONG[format]) {
      test(`has not: ${text.slice(0, 30)}`, () => assert.ok(!hasFormat(format, text)));
    }
  });
}

test('formats of no form are not judged', () => {
  for (const name of ['hostname', 'toString', '', undefined, 7]) assert.ok(!isTextFormat(name));
});
