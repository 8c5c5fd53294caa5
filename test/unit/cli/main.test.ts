import assert from 'node:assert/strict';
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { askOn } from '../../../src/cli/main.ts';

const never = new AbortController().signal;

/** A terminal that gets this input. */
function ask(input: PassThrough, signal = never): Promise<string | undefined> {
  const output = Object.assign(new PassThrough(), { isTTY: true });
  return askOn(input, output)('Really? ', signal);
}

const inputs: Readonly<
  Record<string, readonly [input: (stream: PassThrough) => void, answer: string | undefined]>
> = {
  'a line is the answer': [(stream) => stream.write('yes\n'), 'yes'],
  'Ctrl+D ends a question without an answer': [(stream) => stream.write('\x04'), undefined],
  'Ctrl+C ends a question without an answer': [(stream) => stream.write('\x03'), undefined],
  'the end of the input ends a question without an answer': [(stream) => stream.end(), undefined],
};
for (const [name, [send, answer]] of Object.entries(inputs)) {
  test(name, async () => {
    const input = new PassThrough();
    const answered = ask(input);
    send(input);
    assert.equal(await answered, answer);
  });
}

test('with the input closed, a question has no answer', async () => {
  const ended = new PassThrough();
  await once(ended.resume().end(), 'end');
  assert.equal(await ask(ended), undefined);
  assert.equal(await ask(new PassThrough().destroy()), undefined);
});

test('a stop ends a question without an answer', async () => {
  const stop = new AbortController();
  const answered = ask(new PassThrough(), stop.signal);
  stop.abort();
  assert.equal(await answered, undefined);
});

test('one question is asked at a time, and a stop ends those that wait', async () => {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const askHere = askOn(input, output);
  const stop = new AbortController();
  const answers = ['First? ', 'Second? '].map((question) => askHere(question, never));
  const stopped = askHere('Third? ', stop.signal);
  stop.abort();
  assert.equal(await stopped, undefined);
  input.write('one\n');
  assert.equal(await answers[0], 'one');
  input.write('two\n');
  assert.equal(await answers[1], 'two');
  assert.equal(String(output.read()), 'First? Second? ');
});
