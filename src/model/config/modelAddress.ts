import { isLoopback } from '../../base/addresses.ts';

/** False if it is not an address. */
export function isLocal(address: string): boolean {
  return URL.canParse(address) && isLoopback(new URL(address));
}

/** The paths that requests add to a base address. */
export const REQUEST_PATH = /\/(?:messages|responses|chat\/completions)\/*$/;

export type TypedAddress =
  | { readonly ok: true; readonly baseUrl: string }
  | { readonly ok: false; readonly problem: 'empty' | 'noUrl' | 'credentials' };

/** Reads an address as people type or paste it: with or without a scheme, and perhaps with the path of a request. */
export function readAddress(text: string): TypedAddress {
  const typed = text.trim().replace(/^(["'`])(.*)\1$/, '$2');
  if (typed === '') return { ok: false, problem: 'empty' };
  const address = /^[a-z][a-z0-9+.-]*:\/\//i.test(typed) ? typed : withScheme(typed);
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || /\s/.test(typed)) return { ok: false, problem: 'noUrl' };
  if (url.username !== '' || url.password !== '') return { ok: false, problem: 'credentials' };
  const path = url.pathname
    .replace(REQUEST_PATH, '')
    .replace(/\/models\/*$/, '')
    .replace(/\/+$/, '');
  return { ok: true, baseUrl: `${url.origin}${path}` };
}

/** Servers on this machine and in the local network rarely have a certificate. */
function withScheme(typed: string): string {
  const isNear =
    isLocal(`http://${typed}`) || /^(?:\d{1,3}(?:\.\d{1,3}){3}|[^./]+)(?::\d+)?(?:\/|$)/.test(typed);
  return `${isNear ? 'http' : 'https'}://${typed}`;
}
