import assert from 'node:assert/strict';
import { it } from 'node:test';
import { canBacktrackCatastrophically } from '../../../../src/mcp/schema/limits.ts';

const DANGEROUS = [
  '^(a+)+$',
  '(a*)*b',
  '^((a+))+$',
  '^(?:[a-z]+)*$',
  '^(\\w+\\s?)*$',
  '(x+x+)+y',
  '^(.*a){20}$',
  '(.*,)+',
  '^(a|a)*$',
  '^(a|aa)+$',
  '^(?:\\d|\\w)+!$',
  '^(-\\w+\\d+)+$',
  '^(\\s*;\\w\\s*)*$',
  '^([a-z]+?){3,}$',
  '^(?<word>[a-z]+)+$',
  '^(?=(a+)+$)',
  '^b(c(a+)+)?$',
  '^([\\]a]+)*$',
  'x'.repeat(5000),
];

const HARMLESS = [
  '^[a-z0-9-]+$',
  '^\\d{4}-\\d\\d-\\d\\d$',
  '^#?([a-f0-9]{6}|[a-f0-9]{3})$',
  '^[a-z]+(-[a-z]+)*$',
  '^(?:[^"\\\\]|\\\\.)*$',
  '^(?:foo|far)*$',
  '^\\((a+)\\)+$',
  '^[(a+)+]+$',
  '^(a+){2}$',
  '^(\\+|-)*$',
  '^.*\\.(png|jpe?g)$',
  // What common libraries write for e-mail addresses, times, base64 and addresses of the network.
  "^(?!\\.)(?!.*\\.\\.)([A-Za-z0-9_'+\\-\\.]*)[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9\\-]*\\.)+[A-Za-z]{2,}$",
  '^([01]\\d|2[0-3]):[0-5]\\d(?::[0-5]\\d(?:\\.\\d+)?)?$',
  '^$|^(?:[0-9a-zA-Z+/]{4})*(?:(?:[0-9a-zA-Z+/]{2}==)|(?:[0-9a-zA-Z+/]{3}=))?$',
  '^(?:(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)\\.){3}(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)$',
  '^\\p{L}[\\p{L}\\p{M}]*(?: \\p{L}+)*$',
  '(',
  '[',
  '',
];

for (const pattern of DANGEROUS) {
  it(`finds that ${pattern.slice(0, 40)} can backtrack catastrophically`, () =>
    assert.equal(canBacktrackCatastrophically(pattern), true));
}

for (const pattern of HARMLESS) {
  it(`lets ${pattern.slice(0, 40)} pass`, () => assert.equal(canBacktrackCatastrophically(pattern), false));
}
