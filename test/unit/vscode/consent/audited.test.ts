import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AuditEntry } from '../../../../src/ports/tools.ts';
import { audited, DeclinedError, FORM_OUTCOMES, type Note } from '../../../../src/vscode/consent/audited.ts';

const ABOUT = { kind: 'sampling', server: 'a', chat: 'file:///x.chat.md' } as const;

const CASES: readonly (readonly [string, (note: Note) => Promise<unknown>, Partial<AuditEntry>])[] = [
  [
    'an allowed request has a consent',
    async (note) => note({ consent: 'asked' }),
    { consent: 'asked', outcome: 'ok' },
  ],
  [
    'a request under “always” was not asked about',
    async (note) => note({ consent: 'remembered' }),
    { consent: 'remembered', outcome: 'ok' },
  ],
  ['a declined form is denied', async (note) => note(FORM_OUTCOMES.decline), { outcome: 'denied' }],
  ['a dismissed form is cancelled', async (note) => note(FORM_OUTCOMES.cancel), { outcome: 'cancelled' }],
  [
    'a submitted form was asked about',
    async (note) => note(FORM_OUTCOMES.accept),
    { consent: 'asked', outcome: 'ok' },
  ],
  ['a declined request is denied', () => Promise.reject(new DeclinedError('denied')), { outcome: 'denied' }],
  [
    'a request whose model was stopped is cancelled',
    () => Promise.reject(new DeclinedError('cancelled')),
    { outcome: 'cancelled' },
  ],
  [
    'a model that fails is an error, with the consent',
    async (note) => {
      note({ consent: 'asked' });
      throw new Error('overloaded');
    },
    { consent: 'asked', outcome: 'error' },
  ],
  ['too many requests are an error', () => Promise.reject(new Error('10 questions')), { outcome: 'error' }],
];
for (const [name, work, expected] of CASES) {
  test(`the audit: ${name}`, async () => {
    const entries: AuditEntry[] = [];
    const audit = { record: (entry: AuditEntry) => void entries.push(entry) };
    await audited(audit, ABOUT, work).catch(() => {});
    assert.deepEqual(
      entries.map(({ ms, ...entry }) => ({ ...entry, timed: typeof ms === 'number' })),
      [{ ...ABOUT, ...expected, timed: true }],
    );
  });
}

test('a request that the server aborts is cancelled', async () => {
  const entries: AuditEntry[] = [];
  const audit = { record: (entry: AuditEntry) => void entries.push(entry) };
  const stopped = () => Promise.reject(new Error('stopped'));
  await assert.rejects(audited(audit, ABOUT, stopped, AbortSignal.abort()), /stopped/);
  assert.deepEqual(
    entries.map(({ outcome }) => outcome),
    ['cancelled'],
  );
});
