import * as vscode from 'vscode';

/** Keybindings and other extensions may pass anything; what does not fit is an error, not a guess. */
export type Fields = Readonly<Record<string, unknown>>;

export function readFields(argument: unknown): Fields {
  if (argument === undefined || argument === null) return {};
  // A click in the editor's title bar passes the file that it is about.
  if (argument instanceof vscode.Uri) return { uri: argument };
  if (typeof argument === 'object' && !Array.isArray(argument)) return argument as Fields;
  throw new TypeError(vscode.l10n.t('The argument must be an object.'));
}

export function readUri(fields: Fields, name: string): vscode.Uri | undefined {
  const value = fields[name];
  return value === undefined ? undefined : toUri(value, name);
}

export function readUris(fields: Fields, name: string): readonly vscode.Uri[] | undefined {
  const value = fields[name];
  if (value === undefined) return undefined;
  if (!Array.isArray(value))
    throw new TypeError(vscode.l10n.t('“{0}” must be a list of URIs or paths.', name));
  return value.map((each) => toUri(each, name));
}

function toUri(value: unknown, name: string): vscode.Uri {
  if (value instanceof vscode.Uri) return value;
  if (typeof value !== 'string') throw new TypeError(vscode.l10n.t('“{0}” must be a URI or a path.', name));
  return /^[a-z][a-z0-9+.-]+:/i.test(value) ? vscode.Uri.parse(value, true) : vscode.Uri.file(value);
}

export function readString(fields: Fields, name: string): string | undefined {
  const value = fields[name];
  if (value === undefined || typeof value === 'string') return value;
  throw new TypeError(vscode.l10n.t('“{0}” must be a string.', name));
}

export function readObject(fields: Fields, name: string): Fields | undefined {
  const value = fields[name];
  if (value === undefined) return undefined;
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields;
  throw new TypeError(vscode.l10n.t('“{0}” must be an object.', name));
}
