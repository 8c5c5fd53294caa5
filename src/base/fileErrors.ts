import { hasCode } from './errors.ts';

export type FileFailure = keyof typeof CODES;

const CODES = {
  missing: ['ENOENT', 'ENOTDIR'],
  denied: ['EACCES', 'EPERM'],
  linkLoop: ['ELOOP'],
  pathTooLong: ['ENAMETOOLONG'],
  notAFile: ['EISDIR', 'ENXIO', 'ENODEV'],
  diskFull: ['ENOSPC'],
  overQuota: ['EDQUOT'],
  readOnly: ['EROFS'],
} as const;

export function fileFailure(error: unknown): FileFailure | undefined {
  const kinds = Object.keys(CODES) as FileFailure[];
  return kinds.find((kind) => hasCode(error, ...CODES[kind]));
}

/** The end of a sentence, without its period; undefined when the system's own message is all there is. */
export function readFailure(error: unknown): string | undefined {
  const failure = fileFailure(error);
  return failure && READ_FAILURES[failure];
}

/** Like `readFailure`, and may include a second sentence that says what to do. */
export function writeFailure(error: unknown): string | undefined {
  const failure = fileFailure(error);
  return failure && WRITE_FAILURES[failure];
}

export const NOT_A_FILE = 'it is not a regular file';

const READ_FAILURES: Partial<Record<FileFailure, string>> = {
  missing: 'there is no such file',
  denied: 'permission was denied',
  linkLoop: 'it has too many symbolic links',
  pathTooLong: 'its path is too long',
  notAFile: NOT_A_FILE,
};

const WRITE_FAILURES: Partial<Record<FileFailure, string>> = {
  missing: 'the folder of the chat does not exist',
  denied: 'permission to write to the folder was denied. Change it and call the tool again',
  pathTooLong: 'the path of the chat is too long',
  diskFull: 'the disk is full. Free some space and call the tool again',
  overQuota: 'your disk quota is exceeded. Free some space and call the tool again',
  readOnly: 'the disk is read-only',
};
