import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  DEFAULT_UPLOAD_BYTES,
  MAX_UPLOAD_BYTES,
  readCommandLine,
  UsageError,
} from '../../../src/assetsServer/commandLine.ts';

const PLAIN = {
  kind: 'serve',
  folders: ['notes'],
  readOnly: false,
  maxUploadBytes: DEFAULT_UPLOAD_BYTES,
  allowedTypes: [],
  maxMediaBytes: 3_750_000,
  maxInlineBytes: 1_048_576,
  maxTokens: 10_000,
};

const READ: readonly [line: string, expected: object][] = [
  ['notes', PLAIN],
  ['a b', { ...PLAIN, folders: ['a', 'b'] }],
  ['--read-only notes', { ...PLAIN, readOnly: true }],
  ['--http notes', { ...PLAIN, port: 0 }],
  ['--http 8123 notes', { ...PLAIN, port: 8123 }],
  ['--http=8123 notes', { ...PLAIN, port: 8123 }],
  ['notes --http', { ...PLAIN, port: 0 }],
  ['--http -- 8123', { ...PLAIN, port: 0, folders: ['8123'] }],
  ['-- --http', { ...PLAIN, folders: ['--http'] }],
  ['--max-upload-bytes 1000 notes', { ...PLAIN, maxUploadBytes: 1000 }],
  [
    '--allow-type image/* --allow-type Application/PDF notes',
    { ...PLAIN, allowedTypes: ['image/*', 'application/pdf'] },
  ],
  [
    '--max-media-bytes 9 --max-inline-bytes 8 --max-tokens 7 --audit log.jsonl notes',
    { ...PLAIN, maxMediaBytes: 9, maxInlineBytes: 8, maxTokens: 7, audit: 'log.jsonl' },
  ],
  ['--help', { kind: 'help' }],
  ['-h notes', { kind: 'help' }],
  ['--version', { kind: 'version' }],
];

const REFUSED: readonly [line: string, reason: RegExp][] = [
  ['', /^No folder was given/],
  ['--read-only', /^No folder was given/],
  ['--what notes', /--what/],
  ['--http 70000 notes', /not a valid port/],
  ['--http=x notes', /not a valid port/],
  ['--read-only=yes notes', /read-only/],
  ['--max-upload-bytes 0 notes', /from 1 to/],
  ['--max-upload-bytes 1e6 notes', /from 1 to/],
  [`--max-upload-bytes ${MAX_UPLOAD_BYTES + 1} notes`, /from 1 to/],
  ['--allow-type image notes', /such as image/],
  ['--max-media-bytes 8000000 notes', /--max-media-bytes must be a number from 1 to 7340032/],
  ['--max-inline-bytes x notes', /--max-inline-bytes must be/],
  ['--max-tokens -1 notes', /max-tokens/],
  ['--audit= notes', /--audit must be the path of a file/],
];

describe('the command line of the assets server', () => {
  for (const [line, expected] of READ) {
    it(`understands “${line}”`, () => {
      assert.deepEqual(readCommandLine(line.split(' ').filter(Boolean)), expected);
    });
  }
  for (const [line, reason] of REFUSED) {
    it(`refuses “${line}”`, () => {
      assert.throws(
        () => readCommandLine(line.split(' ').filter(Boolean)),
        (error) => error instanceof UsageError && reason.test(error.message),
      );
    });
  }
});
