/** An address as the editor hands it over. */
export interface HandedUri {
  readonly scheme: string;
  readonly authority: string;
  readonly path: string;
  readonly query: string;
}

/**
 * The address that a browser came back with. An editor on the desktop has decoded its query already, and what is
 * decoded twice is another text: so that is only divided here. One in a browser hands it over as a form writes it.
 */
export function callbackUrl({ scheme, authority, path, query }: HandedUri, from: 'desktop' | 'web'): URL {
  const url = new URL(`${scheme}://${authority}${path}`);
  for (const [name, value] of from === 'web' ? new URLSearchParams(query) : divide(query)) {
    url.searchParams.append(name, value);
  }
  return url;
}

function divide(query: string): readonly (readonly [string, string])[] {
  return query.split('&').map((pair) => {
    const [name = '', ...value] = pair.split('=');
    return [name, value.join('=')];
  });
}
