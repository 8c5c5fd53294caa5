import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { AuditFile, auditLine } from '../../../src/assets/auditFile.ts';
import type { AuditEntry } from '../../../src/ports/tools.ts';
import { useChatFolder } from './folder.ts';

const NOW = new Date('2026-05-03T10:20:30.456Z');
const CALL: AuditEntry = { kind: 'call', server: 'charts', name: 'bars', outcome: 'ok' };

describe('a line of the audit log', () => {
  it('has the time first, then the event, and omits unknown fields', () => {
    const entry: AuditEntry = {
      ...CALL,
      chat: 'file:///a.chat.md',
      consent: 'asked',
      ms: 12,
      argumentBytes: 2,
      resultBytes: 5,
      assets: 1,
    };
    const time = '"time":"2026-05-03T10:20:30.456Z","kind":"call","server":"charts","name":"bars"';
    assert.equal(
      auditLine(entry, NOW),
      `{${time},"chat":"file:///a.chat.md","consent":"asked","outcome":"ok","ms":12,"argumentBytes":2,"resultBytes":5,"assets":1}\n`,
    );
    assert.equal(auditLine(CALL, NOW), `{${time},"outcome":"ok"}\n`);
  });

  it('names the client, and the files with their sizes, without contents and queries', () => {
    const files = [
      { name: 'asset:a#1.pdf', bytes: 5, text: 'hunter2' },
      { name: 'filechat://a.chat.md?token=hunter2', bytes: 0 },
      { name: 'x'.repeat(1000), bytes: 1 },
    ];
    const line = auditLine({ ...CALL, client: 'claude-ai\u202e 1', files }, NOW);
    assert.equal(line.includes('hunter2'), false);
    const read = JSON.parse(line);
    assert.equal(read.client, 'claude-ai⟦U+202E⟧ 1');
    assert.deepEqual(read.files.slice(0, 2), [
      { name: 'asset:a#1.pdf', bytes: 5 },
      { name: 'filechat://a.chat.md', bytes: 0 },
    ]);
    assert.equal(read.files[2].name.length, 200);
    const many = JSON.parse(auditLine({ ...CALL, files: Array(1000).fill({ name: 'a', bytes: 1 }) }, NOW));
    assert.deepEqual([many.files.length, many.moreFiles], [100, 900]);
  });

  it('contains only its own fields', () => {
    const entry = { ...CALL, arguments: { password: 'hunter2' }, result: 'hunter2' };
    assert.equal(auditLine(entry, NOW).includes('hunter2'), false);
  });

  it('omits the query of an address', () => {
    const line = auditLine({ ...CALL, kind: 'resource', name: 'db://users?id=hunter2#x' }, NOW);
    assert.match(line, /"name":"db:\/\/users"/);
  });

  const names: readonly [name: string, expected: string][] = [
    ['a\u202eb', 'a⟦U+202E⟧b'],
    ['two\nlines', 'two\nlines'],
    ['x'.repeat(500), `${'x'.repeat(199)}…`],
  ];
  for (const [name, expected] of names) {
    it(`is one line with a name like ${JSON.stringify(name.slice(0, 10))}`, () => {
      const line = auditLine({ ...CALL, name }, NOW);
      assert.equal(line.indexOf('\n'), line.length - 1);
      assert.equal(JSON.parse(line).name, expected);
    });
  }
});

describe('the audit log', () => {
  const folder = useChatFolder();
  const names = (path: string) =>
    readFileSync(path, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).name ?? line);

  function openLog(parent: string, options: { maxBytes?: number; maxPending?: number } = {}) {
    const path = join(parent, 'deep', 'audit.jsonl');
    const failures: string[] = [];
    const log = new AuditFile({
      path,
      onFailure: (message) => failures.push(message),
      now: () => NOW,
      ...options,
    });
    return { path, failures, log };
  }

  it('keeps entries in their order, in a file for its owner alone', async () => {
    const { path, failures, log } = openLog(folder.path);
    log.record({ ...CALL, name: 'first' });
    log.record({ ...CALL, name: 'second' });
    await log.flush();
    log.record({ ...CALL, name: 'third' });
    await log.flush();
    assert.deepEqual(names(path), ['first', 'second', 'third']);
    assert.deepEqual(failures, []);
    if (process.platform !== 'win32') assert.equal(statSync(path).mode & 0o777, 0o600);
  });

  it('has one old file beside it when it has grown too long', async () => {
    const line = auditLine({ ...CALL, name: 'a' }, NOW).length;
    const { path, log } = openLog(folder.path, { maxBytes: 2 * line });
    for (const name of ['a', 'b', 'c', 'd', 'e']) {
      log.record({ ...CALL, name });
      await log.flush();
    }
    assert.deepEqual([names(`${path}.1`), names(path)], [['c', 'd'], ['e']]);
  });

  it('reports a failing disk once, and later the number of missing entries', async () => {
    const { path, failures, log } = openLog(folder.path);
    mkdirSync(path, { recursive: true });
    log.record(CALL);
    await log.flush();
    log.record(CALL);
    await log.flush();
    assert.equal(failures.length, 1);
    assert.match(failures[0] ?? '', /^The audit log .* could not be written: [a-z ]+\.$/);
    rmSync(path, { recursive: true });
    log.record({ ...CALL, name: 'after' });
    await log.flush();
    assert.deepEqual(names(path), ['after', '{"time":"2026-05-03T10:20:30.456Z","kind":"lost","entries":2}']);
  });

  it('limits pending entries and counts the others', async () => {
    const { path, log } = openLog(folder.path, { maxPending: 2 });
    for (const name of ['a', 'b', 'c', 'd']) log.record({ ...CALL, name });
    await log.flush();
    assert.deepEqual(names(path), [
      'a',
      'b',
      '{"time":"2026-05-03T10:20:30.456Z","kind":"lost","entries":2}',
    ]);
  });

  it('creates no file before the first entry', async () => {
    const { path, log } = openLog(folder.path);
    await log.flush();
    assert.equal(existsSync(path), false);
  });
});
