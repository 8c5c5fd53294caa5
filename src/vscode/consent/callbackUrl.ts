import type * as vscode from 'vscode';

type CallbackUri = Pick<vscode.Uri, 'scheme' | 'authority' | 'path' | 'query'>;

/** The desktop editor has already decoded the query, so it is only split here; the web editor has not. */
export function callbackUrl({ scheme, authority, path, query }: CallbackUri, from: 'desktop' | 'web'): URL {
  const url = new URL(`${scheme}://${authority}${path}`);
  for (const [name, value] of from === 'web' ? new URLSearchParams(query) : splitQuery(query)) {
    url.searchParams.append(name, value);
  }
  return url;
}

function splitQuery(query: string): readonly (readonly [string, string])[] {
  return query.split('&').map((pair) => {
    const [name = '', ...value] = pair.split('=');
    return [name, value.join('=')];
  });
}
