import assert from 'node:assert/strict';
import { it } from 'node:test';
import { calibrate, estimateRequest } from '../../../../src/model/request/estimate.ts';
import type { ContentPart, FilePart, ModelMessage } from '../../../../src/ports/models.ts';

const file = (mimeType: string, size: number): FilePart => ({
  kind: 'file',
  name: 'f',
  mimeType,
  size,
  read: () => Promise.reject(new Error('An estimate reads nothing.')),
});
const user = (...parts: readonly ContentPart[]): ModelMessage => ({ role: 'user', parts });

it('the total is the sum of its parts, and each part grows with its content', () => {
  const { total, system, history, tools, attachments } = estimateRequest({
    system: 'You are terse.',
    messages: [
      user({ kind: 'text', text: 'Hello there, how are you?' }, file('image/png', 10_000)),
      { role: 'assistant', parts: [{ kind: 'call', id: 'c1', name: 'a__b', arguments: { x: 1 } }] },
      {
        role: 'tool',
        results: [{ id: 'c1', name: 'a__b', isError: false, parts: [file('image/png', 1_000_000)] }],
      },
    ],
    tools: [{ name: 'a__b', tool: { server: 'a', tool: 'b' }, description: 'D', inputSchema: {} }],
  });
  assert.equal(total, system + history + tools + attachments);
  assert.ok(system > 0 && history > 10 && tools > 0);
  assert.equal(attachments, 400 + 1500);
});

it('an image counts by its size up to a limit, a document by its pages', () => {
  const tokens = (mimeType: string, size: number) =>
    estimateRequest({ system: '', messages: [user(file(mimeType, size))], tools: [] }).attachments;
  assert.ok(tokens('image/png', 1000) < tokens('image/png', 100_000));
  assert.equal(tokens('image/jpeg', 200_000), tokens('image/jpeg', 3_000_000));
  assert.ok(tokens('application/pdf', 1) >= 1000);
  assert.ok(tokens('application/pdf', 6_000_000) > tokens('application/pdf', 60_000));
});

it('the last actual count corrects the next estimate within limits', () => {
  const factors = [120, 1, 100_000, 0, undefined, Number.NaN].map((actual) => calibrate(100, actual));
  assert.deepEqual(factors, [1.2, 0.5, 2.5, 1, 1, 1]);
  assert.equal(calibrate(0, 100), 1);
});
