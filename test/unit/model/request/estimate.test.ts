import assert from 'node:assert/strict';
import { it } from 'node:test';
import { calibrate, estimateRequest } from '../../../../src/model/request/estimate.ts';
import type { FilePart, ModelRequest } from '../../../../src/ports/models.ts';

const file = (mimeType: string, size: number): FilePart => ({
  kind: 'file',
  name: 'f',
  mimeType,
  size,
  read: () => Promise.reject(new Error('An estimate reads nothing.')),
});
const request = (more: Partial<ModelRequest>): ModelRequest => ({
  system: '',
  messages: [],
  tools: [],
  ...more,
});
const user = (...parts: Extract<ModelRequest['messages'][number], { role: 'user' }>['parts'][number][]) =>
  ({ role: 'user', parts }) as const;

it('the total is the sum of its parts, and each part grows with its content', () => {
  const estimate = estimateRequest(
    request({
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
    }),
  );
  const { total, system, history, tools, attachments } = estimate;
  assert.equal(total, system + history + tools + attachments);
  assert.ok(system > 0 && history > 10 && tools > 0);
  assert.equal(attachments, 400 + 1500);
});

it('an image counts by its size up to a limit, a document by its pages', () => {
  const tokens = (mimeType: string, size: number) =>
    estimateRequest(request({ messages: [user(file(mimeType, size))] })).attachments;
  assert.ok(tokens('image/png', 1000) < tokens('image/png', 100_000));
  assert.equal(tokens('image/jpeg', 200_000), tokens('image/jpeg', 3_000_000));
  assert.ok(tokens('application/pdf', 1) >= 1000);
  assert.ok(tokens('application/pdf', 6_000_000) > tokens('application/pdf', 60_000));
});

it('the last actual count corrects the next estimate within limits', () => {
  assert.equal(calibrate(100, 120), 1.2);
  assert.equal(calibrate(100, 1), 0.5);
  assert.equal(calibrate(100, 100_000), 2.5);
  for (const [estimate, actual] of [
    [0, 100],
    [100, 0],
    [100, undefined],
    [100, Number.NaN],
  ] as const)
    assert.equal(calibrate(estimate, actual), 1);
});
