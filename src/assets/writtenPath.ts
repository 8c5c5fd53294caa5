interface Form {
  readonly pattern: RegExp;
  readonly reason: string;
}

const WINDOWS_FORMS: readonly Form[] = [
  { pattern: /^[A-Za-z]:(?![\\/])/, reason: 'it has a drive without a folder' },
  { pattern: /(?<!^[A-Za-z]):/, reason: 'it holds a colon' },
  {
    pattern: /(?:[^.\\/ ][. ]+|\.{3,}| )(?=[\\/]|$)/,
    reason: 'a name in it ends with a dot or a space',
  },
  {
    pattern: /(?:^|[\\/])(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[\d¹²³])(?:\.[^\\/]*)?(?=[\\/]|$)/i,
    reason: 'it names a device',
  },
];
const OTHER_FORMS: readonly Form[] = [{ pattern: /^[A-Za-z]:/, reason: 'it is a path of Windows' }];

/** Why a path that somebody wrote is not followed: this system would read it as something else, or not at all. */
export function writtenPathProblem(
  written: string,
  platform: NodeJS.Platform = process.platform,
): string | undefined {
  const forms = platform === 'win32' ? WINDOWS_FORMS : OTHER_FORMS;
  return forms.find(({ pattern }) => pattern.test(written))?.reason;
}

/** A share or a device of Windows. Even a question about a share can send the user's credentials to its server. */
export function isRemotePath(path: string, platform: NodeJS.Platform = process.platform): boolean {
  return platform === 'win32' && /^[\\/]{2}/.test(path);
}
