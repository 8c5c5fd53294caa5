import assert from 'node:assert/strict';
import { test } from 'node:test';
import { callbackUrl } from '../../../../src/vscode/consent/callbackUrl.ts';

const ISSUER = 'https://a.example/x?y=1';
const CASES: readonly (readonly [string, 'desktop' | 'web', string, Readonly<Record<string, string>>])[] = [
  ['a plus sign is kept', 'desktop', 'code=a+b&state=s', { code: 'a+b', state: 's' }],
  ['a number sign does not start a fragment', 'desktop', 'code=a#b&state=s', { code: 'a#b', state: 's' }],
  ['a percent sign is not decoded again', 'desktop', 'code=a%2Bb', { code: 'a%2Bb' }],
  ['only the first equals sign separates', 'desktop', 'code=YQ==&state=s=t', { code: 'YQ==', state: 's=t' }],
  ['a URL is kept', 'desktop', `iss=${ISSUER}&state=s`, { iss: ISSUER, state: 's' }],
  ['a parameter without a value is empty', 'desktop', 'code&state=s', { code: '', state: 's' }],
  ['the query is decoded once', 'web', 'code=a%2Bb%23c&error=a+b', { code: 'a+b#c', error: 'a b' }],
  ['a URL in the query is decoded', 'web', `iss=${encodeURIComponent(ISSUER)}`, { iss: ISSUER }],
];
for (const [name, from, query, expected] of CASES) {
  test(`the callback URL of a sign-in (${from}): ${name}`, () => {
    const url = callbackUrl({ scheme: 'vscode', authority: 'a.b', path: '/signed-in', query }, from);
    assert.deepEqual(Object.fromEntries(new URL(url.href).searchParams), expected);
    assert.equal(url.hash, '');
    assert.equal(url.href.startsWith('vscode://a.b/signed-in?'), true);
  });
}
