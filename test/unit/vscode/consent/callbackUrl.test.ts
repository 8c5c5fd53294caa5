import assert from 'node:assert/strict';
import { test } from 'node:test';
import { callbackUrl } from '../../../../src/vscode/consent/callbackUrl.ts';

const ISSUER = 'https://a.example/x?y=1';
const CASES: readonly (readonly [string, 'desktop' | 'web', string, Readonly<Record<string, string>>])[] = [
  ['a plus is a plus', 'desktop', 'code=a+b&state=s', { code: 'a+b', state: 's' }],
  ['a number sign does not end it', 'desktop', 'code=a#b&state=s', { code: 'a#b', state: 's' }],
  ['a percent sign is not decoded again', 'desktop', 'code=a%2Bb', { code: 'a%2Bb' }],
  ['only the first equals sign divides', 'desktop', 'code=YQ==&state=s=t', { code: 'YQ==', state: 's=t' }],
  ['an address stays whole', 'desktop', `iss=${ISSUER}&state=s`, { iss: ISSUER, state: 's' }],
  ['what has no value is empty', 'desktop', 'code&state=s', { code: '', state: 's' }],
  ['a form is decoded once', 'web', 'code=a%2Bb%23c&error=a+b', { code: 'a+b#c', error: 'a b' }],
  ['an address in a form is decoded', 'web', `iss=${encodeURIComponent(ISSUER)}`, { iss: ISSUER }],
];
for (const [name, from, query, expected] of CASES) {
  test(`the address that a browser came back with (${from}): ${name}`, () => {
    const url = callbackUrl({ scheme: 'vscode', authority: 'a.b', path: '/signed-in', query }, from);
    assert.deepEqual(Object.fromEntries(new URL(url.href).searchParams), expected);
    assert.equal(url.hash, '');
    assert.equal(url.href.startsWith('vscode://a.b/signed-in?'), true);
  });
}
