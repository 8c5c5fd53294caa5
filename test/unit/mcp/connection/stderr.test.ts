import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { describe, it, test } from 'node:test';
import type { ServerConfig } from '../../../../src/mcp/config/types.ts';
import { createMask, LogLimit, StderrTail } from '../../../../src/mcp/connection/stderr.ts';

async function tailOf(chunks: Iterable<string | Buffer>): Promise<{ tail: StderrTail; logged: string[] }> {
  const stream = new PassThrough();
  const logged: string[] = [];
  const tail = new StderrTail(stream, (line) => logged.push(line));
  for (const chunk of chunks) {
    stream.write(chunk);
  }
  stream.end();
  await tail.ended;
  return { tail, logged };
}

describe('the tail of stderr', () => {
  test('has the last lines, without colors and blank lines', async () => {
    const { tail, logged } = await tailOf(['one\ntw', 'o\r\n\n\u001b[31mthree\u001b[0m\nfo', 'ur']);
    assert.deepEqual(tail.lastLines(2), ['three', 'four']);
    assert.deepEqual(tail.lastLines(9), ['one', 'two', 'three', 'four']);
    assert.deepEqual(logged, ['one', 'two', '', 'three']);
  });

  test('has the error that ended Node, however long its stack trace is', async () => {
    const stack = Array.from({ length: 20 }, (_, at) => `    at f${at} (file.js:${at}:1)\n`).join('');
    const report = `file.js:1\n  throw err;\n  ^\n\nTypeError [ERR_X]: No bindings\n${stack}\n`;
    const { tail } = await tailOf(['Error: an old one\n', report, '{ code: 1 }\n\nNode.js v24.1.0\n']);
    assert.deepEqual(tail.lastLines(2), ['TypeError [ERR_X]: No bindings', 'at f0 (file.js:0:1)']);
    const running = await tailOf([report, 'going on\n', 'and on\n']);
    assert.deepEqual(running.tail.lastLines(2), ['going on', 'and on']);
  });

  test('is bounded, whatever the size of the chunks', async () => {
    const line = `${'x'.repeat(99)}\n`;
    const small = await tailOf(Array.from({ length: 5000 }, () => line));
    const large = await tailOf([line.repeat(5000)]);
    for (const { tail } of [small, large]) {
      const kept = tail.lastLines(Number.POSITIVE_INFINITY).length;
      assert.ok(kept >= 655 && kept <= 700, `${kept} lines of 100 bytes are about 64 KB`);
    }
  });

  test('keeps the end of an endless line', async () => {
    const { tail } = await tailOf(['a'.repeat(1_000_000), 'b'.repeat(10)]);
    assert.equal(tail.lastLines(1)[0]?.length, 2001);
  });

  test('a flood does not fill the log', async () => {
    const { logged } = await tailOf(Array.from({ length: 300 }, () => `${'y'.repeat(9999)}\n`));
    assert.ok(logged.length < 120, `${logged.length} lines were logged`);
    assert.match(logged.at(-1) ?? '', /too much to log/);
  });

  test('does not split characters', async () => {
    const bytes = Buffer.from('grün\n');
    const { logged } = await tailOf([bytes.subarray(0, 3), bytes.subarray(3)]);
    assert.deepEqual(logged, ['grün']);
  });
});

test('a thousand lines a minute are logged, then one notice, until the next minute', () => {
  const limit = new LogLimit();
  const minute = (nowMs: number) => {
    const taken = Array.from({ length: 1500 }, (_, line) => limit.take(nowMs + line));
    return ['log', 'last', 'drop'].map((verdict) => taken.filter((each) => each === verdict).length);
  };
  assert.deepEqual(minute(5), [1000, 1, 499]);
  assert.deepEqual(minute(2000), [0, 0, 1500]);
  assert.deepEqual(minute(70_000), [1000, 1, 499]);
});

const stdio = (env: Record<string, string> = {}): ServerConfig => ({
  kind: 'stdio',
  command: 'c',
  args: [],
  env,
});
const remote = (more: object = {}): ServerConfig => ({
  kind: 'http',
  url: 'https://a.example/',
  headers: {},
  ...more,
});

describe('the mask hides', () => {
  const cases: Readonly<Record<string, readonly [ServerConfig, string, string]>> = {
    'an environment variable, anywhere': [
      stdio({ KEY: 'hunter22' }),
      'key=hunter22, hunter22!',
      'key=•••, •••!',
    ],
    'no short word': [stdio({ DEBUG: 'true', PORT: '8080' }), 'true 8080', 'true 8080'],
    'a longer secret before its prefix': [
      stdio({ A: 'secret', B: 'secret-and-more' }),
      'secret-and-more',
      '•••',
    ],
    'a secret with special characters of patterns': [
      stdio({ A: 'a.b*c(d[e' }),
      'xa.b*c(d[ey aXb*c(d[e',
      'x•••y aXb*c(d[e',
    ],
    'a secret in a URL': [stdio({ A: 'p@ss/word' }), 'x?t=p%40ss%2Fword', 'x?t=•••'],
    'a secret in JSON': [stdio({ A: 'line1\n"line2"' }), '{"a":"line1\\n\\"line2\\""}', '{"a":"•••"}'],
    'a header': [remote({ headers: { 'X-Key': 'abc12345' } }), 'sent abc12345', 'sent •••'],
    'a bearer token of a header, also alone': [
      remote({ headers: { Authorization: 'Bearer tok.en-1' } }),
      'token tok.en-1',
      'token •••',
    ],
    'user and password of a URL': [
      remote({ url: 'https://somebody:pass%20word@a.example/mcp' }),
      'somebody pass%20word',
      '••• •••',
    ],
    'query parameters of a URL': [
      remote({ url: 'https://a.example/?key=s3cr3t99' }),
      'got s3cr3t99',
      'got •••',
    ],
    'an OAuth client secret': [
      remote({ oauth: { clientId: 'public-id', clientSecret: 'client-secret' } }),
      'public-id client-secret',
      'public-id •••',
    ],
    'text like a bearer token': [stdio(), 'Authorization: bearer abcdef.123', 'Authorization: bearer •••'],
    'text like an API key': [
      stdio(),
      'sk-ant-api03-abcdefghijkl ghp_abcdefghijklmnopqrst AKIAABCDEFGHIJKLMNOP xoxb-1234567890-a',
      '••• ••• ••• •••',
    ],
    'text like a signed token': [
      stdio(),
      'jwt eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl end',
      'jwt ••• end',
    ],
    'no ordinary words': [
      stdio(),
      'task-force-of-many-people-here risk_assessment bearer of news',
      'task-force-of-many-people-here risk_assessment bearer of news',
    ],
  };
  for (const [rule, [config, text, expected]] of Object.entries(cases)) {
    it(rule, () => assert.equal(createMask(config)(text), expected));
  }

  it('extra secrets', () => {
    assert.equal(createMask(stdio(), ['refresh-token', 'x'])('x refresh-token'), 'x •••');
  });

  it('secrets in a long text, in linear time', () => {
    const mask = createMask(stdio({ A: 'hunter22' }));
    for (const piece of ['eyJ', 'eyJhbGciOiJI.', 'sk-', 'Bearer ', 'Bearer', 'hunter2', '_', ' ']) {
      const text = piece.repeat(Math.ceil(1e6 / piece.length));
      assert.ok(mask(`${text}hunter22`).endsWith('•••'), piece);
    }
  });
});
