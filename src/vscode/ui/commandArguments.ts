import * as vscode from 'vscode';
import { isObject } from '../../base/json.ts';

/** The argument of a command. Keybindings and other extensions may pass anything; invalid values throw. */
export type Fields = Readonly<Record<string, unknown>>;

/** A button in the editor's title bar passes the URI of the chat, which becomes the field `chat`. */
export function readFields(argument: unknown, chat = 'uri'): Fields {
  if (argument === undefined || argument === null) return {};
  if (argument instanceof vscode.Uri) return { [chat]: argument };
  if (isObject(argument)) return argument;
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
  if (isObject(value)) return value;
  throw new TypeError(vscode.l10n.t('“{0}” must be an object.', name));
}
