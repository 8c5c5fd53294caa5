import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isLocal, readAddress } from '../../../../src/model/config/modelAddress.ts';

it('loopback is this machine, not a name that resembles it', () => {
  for (const host of ['localhost', '127.0.0.1', '127.1.2.3', '[::1]', 'a.localhost'])
    assert.equal(isLocal(`http://${host}:1/v1`), true, host);
  for (const host of ['localhost.evil.invalid', '127.0.0.1.evil.invalid', '10.0.0.1', 'xlocalhost'])
    assert.equal(isLocal(`http://${host}/`), false, host);
});

describe('a typed address', () => {
  const cases: readonly (readonly [typed: string, address: string])[] = [
    [' https://llm.example.com/v1/ ', 'https://llm.example.com/v1'],
    ['"https://llm.example.com/v1"', 'https://llm.example.com/v1'],
    ['https://llm.example.com/v1/chat/completions', 'https://llm.example.com/v1'],
    ['https://llm.example.com/v1/models', 'https://llm.example.com/v1'],
    ['llm.example.com/v1', 'https://llm.example.com/v1'],
    ['localhost:8000/v1', 'http://localhost:8000/v1'],
    ['127.0.0.1:8000', 'http://127.0.0.1:8000'],
    ['192.168.0.7:8000/v1', 'http://192.168.0.7:8000/v1'],
    ['box:1234', 'http://box:1234'],
  ];
  for (const [typed, baseUrl] of cases)
    it(typed, () => assert.deepEqual(readAddress(typed), { ok: true, baseUrl }));

  const refused: readonly (readonly [typed: string, problem: string])[] = [
    [' ', 'empty'],
    ['not an address', 'noUrl'],
    ['ftp://host/v1', 'noUrl'],
    ['https://', 'noUrl'],
    ['https://me:secret@host/v1', 'credentials'],
  ];
  for (const [typed, problem] of refused)
    it(`${JSON.stringify(typed)} is refused`, () =>
      assert.deepEqual(readAddress(typed), { ok: false, problem }));
});
