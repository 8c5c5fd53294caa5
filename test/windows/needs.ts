/** Options for tests of something that Windows or Wine lacks: they are skipped there, with the reason. */

interface Needs {
  readonly skip: string | false;
}

export const needsSymlinks = unlessWindows('Windows lets few users create symbolic links, and Wine none');
export const needsFifos = unlessWindows('Windows has no FIFOs and no device files');
export const needsModes = unlessWindows('Windows has no POSIX modes and owners');
export const needsCase = unlessWindows('Windows does not distinguish names by case');
export const needsSignals = unlessWindows('Windows has no signals and no process groups');

/** A test that would pass on Windows, but not under Wine. */
export function unlessWine(reason: string): Needs {
  return { skip: process.env['WINELOADER'] !== undefined && `Wine: ${reason}` };
}

export function unlessWindows(reason: string): Needs {
  return { skip: process.platform === 'win32' && reason };
}
