import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { describe, it } from 'node:test';
import type { JSONRPCMessage } from '@modelcontextprotocol/server';
import fc from 'fast-check';
import { LineTransport, type LineTransportOptions } from '../../../../src/assetsServer/transport/stdio.ts';

const MAX_MESSAGE_BYTES = 1000;

/** Reads everything that is given, cut into these pieces. */
async function read(chunks: readonly Buffer[], before?: LineTransportOptions['before']) {
  const input = new PassThrough();
  const output = new PassThrough();
  const received: JSONRPCMessage[] = [];
  const errors: string[] = [];
  const transport = new LineTransport({
    input,
    output,
    maxMessageBytes: MAX_MESSAGE_BYTES,
    ...(before ? { before } : {}),
  });
  transport.onmessage = (message) => received.push(message);
  transport.onerror = ({ message }) => errors.push(message);
  await transport.start();
  for (const chunk of chunks) input.write(chunk);
  input.end();
  await transport.ended;
  const sent = (output.read() as Buffer | null)?.toString() ?? '';
  return {
    received,
    errors,
    sent: sent
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line)),
  };
}

function request(id: number | string, text: string): JSONRPCMessage {
  return { jsonrpc: '2.0', id, method: 'x', params: { text } };
}

const line = (message: unknown) => Buffer.from(`${JSON.stringify(message)}\n`);

describe('messages by lines', () => {
  it('arrive whole and in order, wherever the pipe cuts them', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.string({ unit: 'grapheme', maxLength: 40 }), { minLength: 1, maxLength: 6 }),
        fc.array(fc.nat(400), { maxLength: 12 }),
        async (texts, cuts) => {
          const messages = texts.map((text, id) => request(id, text));
          const bytes = Buffer.concat(messages.map(line));
          const places = [...new Set(cuts)].sort((a, b) => a - b);
          const chunks = [0, ...places].map((from, at) => bytes.subarray(from, places[at] ?? bytes.length));
          const { received, errors } = await read(chunks);
          assert.deepEqual(received, messages);
          assert.deepEqual(errors, []);
        },
      ),
      { numRuns: 200 },
    );
  });

  it('that are too long are answered by their id, and the next ones arrive', async () => {
    const long = 'x'.repeat(MAX_MESSAGE_BYTES);
    // As the SDKs of TypeScript and Python write them, and as others do.
    const forms = [
      { jsonrpc: '2.0', id: 7, method: 'x', params: { long } },
      { method: 'x', params: { long }, jsonrpc: '2.0', id: 7 },
      { method: 'x', params: { long }, id: 7, jsonrpc: '2.0' },
      { id: 7, jsonrpc: '2.0', method: 'x', params: { long } },
    ];
    for (const form of forms) {
      const { received, sent } = await read([line(form), line(request(8, 'short'))]);
      assert.deepEqual(received, [request(8, 'short')]);
      assert.equal(sent.length, 1);
      assert.equal(sent[0].id, 7);
      assert.match(sent[0].error.message, /longer than 1000 bytes/);
    }
  });

  it('that are too long are not answered by an id inside their text', async () => {
    const text = `{"jsonrpc":"2.0","id":9,${'x'.repeat(MAX_MESSAGE_BYTES)},"id":9}`;
    const { sent, errors } = await read([line({ jsonrpc: '2.0', method: 'x', params: { text } })]);
    assert.deepEqual(sent, []);
    assert.equal(errors.length, 1);
  });

  it('that are invalid are ignored', async () => {
    const { received, errors } = await read([Buffer.from('hello\n\n  \n{"a":1}\n'), line(request(1, 'a'))]);
    assert.deepEqual(received, [request(1, 'a')]);
    assert.equal(errors.length, 2);
  });

  it('wait for the work before them', async () => {
    const seen: string[] = [];
    const { received } = await read([line(request(1, 'a')), line(request(2, 'b'))], async (message) => {
      seen.push(`before ${'id' in message ? message.id : ''}`);
      await new Promise(setImmediate);
    });
    assert.deepEqual(seen, ['before 1', 'before 2']);
    assert.equal(received.length, 2);
  });

  it('end when the client closes its end', async () => {
    const input = new PassThrough();
    const output = new PassThrough();
    const transport = new LineTransport({ input, output, maxMessageBytes: MAX_MESSAGE_BYTES });
    await transport.start();
    output.destroy(new Error('EPIPE'));
    await transport.ended;
    assert.ok(input.destroyed);
    await assert.rejects(transport.send(request(1, 'a')), /closed/);
  });
});
