import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { ReadAhead } from '../../../../src/mcp/spill/readAhead.ts';

const CHUNK = Buffer.alloc(64 * 1024);

test('chunks are read in their order, and undefined is the end', async () => {
  const chunks = new ReadAhead(Readable.from([Buffer.from('a'), Buffer.from('b')]));
  assert.deepEqual([`${await chunks.next()}`, `${await chunks.next()}`], ['a', 'b']);
  assert.equal(await chunks.next(), undefined);
});

test('a sender that is faster than the reader has to wait', async () => {
  let sent = 0;
  const endless = new Readable({
    read() {
      sent += 1;
      this.push(CHUNK);
    },
  });
  const chunks = new ReadAhead(endless);
  await chunks.next();
  for (let turns = 0; turns < 100; turns += 1) await new Promise(setImmediate);
  assert.ok(sent < 20, `${sent} chunks were sent`);
  for (let read = 0; read < 100; read += 1) await chunks.next();
  endless.destroy();
});

test('what has arrived is read before the error that followed it', async () => {
  const broken = new Readable({ read() {} });
  const chunks = new ReadAhead(broken);
  broken.push('a');
  await new Promise(setImmediate);
  broken.destroy(new Error('broken'));
  await new Promise(setImmediate);
  assert.equal(`${await chunks.next()}`, 'a');
  await assert.rejects(chunks.next(), /broken/);
});

test('a stream that is closed before its end is an error', async () => {
  const closed = new Readable({ read() {} });
  const chunks = new ReadAhead(closed);
  closed.destroy();
  await assert.rejects(chunks.next(), /closed/);
});

test('after cancel there is nothing more, and the end is reported once', async () => {
  let ends = 0;
  const stream = Readable.from([Buffer.from('a'), Buffer.from('b')]);
  const chunks = new ReadAhead(stream, () => {
    ends += 1;
  });
  await chunks.next();
  chunks.cancel();
  assert.equal(await chunks.next(), undefined);
  stream.destroy();
  await new Promise(setImmediate);
  assert.equal(ends, 1);
});
