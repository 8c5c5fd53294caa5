import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AuditEntry } from '../../../../src/ports/tools.ts';
import { audited, DeclinedError, FORM_OUTCOMES, type Note } from '../../../../src/vscode/consent/audited.ts';

const ABOUT = { kind: 'sampling', server: 'a', chat: 'file:///x.chat.md' } as const;

const CASES: readonly (readonly [string, (note: Note) => Promise<unknown>, Partial<AuditEntry>])[] = [
  [
    'who lets a server ask has agreed',
    async (note) => note({ consent: 'asked' }),
    { consent: 'asked', outcome: 'ok' },
  ],
  [
    'under “always” nobody was asked',
    async (note) => note({ consent: 'remembered' }),
    { consent: 'remembered', outcome: 'ok' },
  ],
  ['who declines a form has not agreed', async (note) => note(FORM_OUTCOMES.decline), { outcome: 'denied' }],
  ['who closes a form has not agreed', async (note) => note(FORM_OUTCOMES.cancel), { outcome: 'cancelled' }],
  [
    'who fills in a form was asked',
    async (note) => note(FORM_OUTCOMES.accept),
    { consent: 'asked', outcome: 'ok' },
  ],
  ['who says no denies it', () => Promise.reject(new DeclinedError('denied')), { outcome: 'denied' }],
  [
    'who stops the model cancels it',
    () => Promise.reject(new DeclinedError('cancelled')),
    { outcome: 'cancelled' },
  ],
  [
    'a model that fails is an error, after the user agreed',
    async (note) => {
      note({ consent: 'asked' });
      throw new Error('overloaded');
    },
    { consent: 'asked', outcome: 'error' },
  ],
  ['too many questions are an error', () => Promise.reject(new Error('10 questions')), { outcome: 'error' }],
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

test('what the server itself takes back is cancelled', async () => {
  const entries: AuditEntry[] = [];
  const audit = { record: (entry: AuditEntry) => void entries.push(entry) };
  const stopped = () => Promise.reject(new Error('stopped'));
  await assert.rejects(audited(audit, ABOUT, stopped, AbortSignal.abort()), /stopped/);
  assert.deepEqual(
    entries.map(({ outcome }) => outcome),
    ['cancelled'],
  );
});
