import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { describe, test } from 'node:test';
import { StderrTail } from '../../../../src/mcp/connection/stderr.ts';

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
