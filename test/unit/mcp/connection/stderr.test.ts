import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { describe, test } from 'node:test';
import { LogLimit } from '../../../../src/mcp/connection/serverLog.ts';
import { explainStderr, StderrTail } from '../../../../src/mcp/connection/stderr.ts';

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
  test('explains an exit without colors, and logs every line', async () => {
    const { tail, logged } = await tailOf(['one\ntw', 'o\r\n\n\u001b[31mthree\u001b[0m\nfo', 'ur']);
    assert.equal(tail.explanation(), 'Last lines of stderr: one | two | three | four');
    assert.deepEqual(logged, ['one', 'two', '', 'three']);
  });

  test('has the error that ended Node, however long its stack trace is', async () => {
    const stack = Array.from({ length: 20 }, (_, at) => `    at f${at} (file.js:${at}:1)\n`).join('');
    const report = `file.js:1\n  throw err;\n  ^\n\nTypeError [ERR_X]: No bindings\n${stack}\n`;
    const { tail } = await tailOf(['Error: an old one\n', report, '{ code: 1 }\n\nNode.js v24.1.0\n']);
    assert.match(tail.explanation() ?? '', /^TypeError \[ERR_X\]: No bindings/);
  });

  // Node 20 matches the beginnings of sequences again and again.
  test('reads a line of terminal sequences without an end once', async () => {
    const { logged } = await tailOf([`\u001b${'?;'.repeat(200_000)}\n`]);
    assert.equal(logged[0]?.length, 2001);
  });

  test('is bounded, whatever the size of the chunks', async () => {
    const lines = (count: number) => `${'x'.repeat(99)}\n`.repeat(count);
    // About 64 KB are kept.
    const chunks = (count: number) => ['Error: first\n', ...Array.from({ length: count }, () => lines(1))];
    assert.match((await tailOf(chunks(600))).tail.explanation() ?? '', /^Error: first \| x+$/);
    for (const flood of [chunks(5000), ['Error: first\n', lines(5000)]]) {
      assert.match((await tailOf(flood)).tail.explanation() ?? '', /^Last lines of stderr: x+/);
    }
  });

  test('keeps the end of an endless line', async () => {
    const { tail } = await tailOf(['a'.repeat(1_000_000), 'b'.repeat(10)]);
    assert.equal(tail.explanation()?.length, 'Last lines of stderr: '.length + 2001);
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

describe('an exit is explained by', () => {
  const cases: Readonly<Record<string, readonly [stderr: string, expected: string | undefined]>> = {
    'the error of Node, without its source and its stack': [
      `file:///srv/index.js:3\n  throw new Error('x');\n        ^\n\nError: Set API_KEY first\n    at run (file:///srv/index.js:3:9)\n    at node:internal/main:1:1 {\n  code: 'NO_KEY'\n}\n\nNode.js v20.19.0\n`,
      'Error: Set API_KEY first',
    ],
    'an error with a code': [
      `Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'zod'\n    at resolve (node:internal:1)\n  code: 1\n}\n`,
      `Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'zod'`,
    ],
    'the exception of Python': [
      `Traceback (most recent call last):\n  File "a.py", line 1, in <module>\n    main()\nModuleNotFoundError: No module named 'mcp'\n`,
      `ModuleNotFoundError: No module named 'mcp'`,
    ],
    'the error of a program': ['loading\nerror: unknown option --prot\n', 'error: unknown option --prot'],
    'the last of several errors': [
      'Error: retrying\nTypeError: x is not a function\n    at a\n',
      'TypeError: x is not a function',
    ],
    'an error, and the last line if it is about something else': [
      'Error: no cache\n    at a\nstarting\nSegmentation fault\n',
      'Error: no cache | Segmentation fault',
    ],
    'the last five lines, if none is an error': [
      '1\n2\n3\n4\n\n5\nno errors so far\n',
      'Last lines of stderr: 2 | 3 | 4 | 5 | no errors so far',
    ],
    'nothing, if it wrote nothing': [' \n\n', undefined],
  };
  for (const [rule, [stderr, expected]] of Object.entries(cases)) {
    test(rule, () => assert.equal(explainStderr(stderr), expected));
  }
});
