import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { checkElicitationUrl } from '../../../../src/mcp/requests/elicitation.ts';

describe('the URL of an elicitation', () => {
  const opened: readonly [string, string][] = [
    ['https://example.com/a?b=c%26d#e', 'https://example.com/a?b=c%26d#e'],
    ['http://localhost:8080/x', 'http://localhost:8080/x'],
    ['http://127.0.0.1/', 'http://127.0.0.1/'],
    ['http://2130706433/', 'http://127.0.0.1/'],
    ['http://[::1]:1/', 'http://[::1]:1/'],
    ['https://10.0.0.1/', 'https://10.0.0.1/'],
    // A letter that only looks like an a.
    ['https://p\u0430ypal.com/', 'https://xn--pypal-4ve.com/'],
    ['https://example.com/\u202egnp', 'https://example.com/%E2%80%AEgnp'],
  ];
  for (const [given, expected] of opened) {
    test(`opened: ${given}`, () => assert.equal(checkElicitationUrl(given).href, expected));
  }

  const refused: readonly [string, RegExp][] = [
    ['javascript:alert(1)', /only https is allowed/],
    ['file:///etc/passwd', /only https is allowed/],
    ['data:text/html,x', /only https is allowed/],
    ['vscode://filechat/x', /only https is allowed/],
    ['command:filechat.run', /only https is allowed/],
    ['example.com', /not a URL/],
    ['', /not a URL/],
    ['https://example.com@evil.test/', /contains a user name/],
    ['http://example.com/', /not be encrypted/],
    ['http://localhost.example.com/', /not be encrypted/],
    ['http://127.example.com/', /not be encrypted/],
    ['http://10.0.0.1/', /not be encrypted/],
    ['https://169.254.169.254/latest', /credentials of this machine/],
    ['http://0xa9fea9fe/', /credentials of this machine/],
    ['https://[::ffff:169.254.169.254]/', /credentials of this machine/],
    ['https://[fe80::1]/', /credentials of this machine/],
    ['https://[fd00:ec2::254]/', /credentials of this machine/],
    ['https://metadata.google.internal./', /credentials of this machine/],
    ['http://0.0.0.0/', /credentials of this machine/],
    ['http://[::]/', /credentials of this machine/],
    [`https://example.com/${'a'.repeat(5000)}`, /too long/],
  ];
  for (const [given, reason] of refused) {
    test(`refused: ${given.slice(0, 50)}`, () => assert.throws(() => checkElicitationUrl(given), reason));
  }
});
