import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Cleanup } from '../kit/folder.ts';
import { serveHttp } from '../kit/http.ts';

interface TokenProxyOptions {
  readonly target: URL;
  readonly token: string;
  /** Replacements in requests: from the suite's resources to those of the server. */
  readonly renamed: Readonly<Record<string, string>>;
}

/**
 * Forwards the requests of a client that cannot send a token to a server that needs one. Replaces its own address by
 * that of the server; any other Host and Origin stays. Returns its address.
 */
export async function startTokenProxy(
  cleanup: Cleanup,
  { target, token, renamed }: TokenProxyOptions,
): Promise<string> {
  const rename = (written: string) =>
    Object.entries(renamed).reduce((all, [from, to]) => all.replaceAll(from, to), written);
  const url: string = await serveHttp(cleanup, async (incoming, outgoing) => {
    const body = Buffer.from(rename(await text(incoming)));
    const own = new RegExp(`^(http://)?(localhost|127\\.0\\.0\\.1):${new URL(url).port}$`);
    const headers = Object.fromEntries(
      Object.entries(incoming.headers).map(([name, value]) => [
        name,
        String(value).replace(own, `$1$2:${target.port}`),
      ]),
    );
    const name = headers['mcp-name'];
    const forwarded = request(
      target,
      {
        method: incoming.method,
        path: incoming.url,
        headers: {
          ...headers,
          ...(name === undefined ? {} : { 'mcp-name': rename(name) }),
          ...(headers['content-length'] === undefined ? {} : { 'content-length': body.length }),
          authorization: `Bearer ${token}`,
        },
      },
      (response) => {
        outgoing.writeHead(response.statusCode ?? 502, response.headers);
        outgoing.flushHeaders();
        response.pipe(outgoing);
      },
    );
    forwarded.on('error', () => outgoing.destroy());
    outgoing.on('close', () => forwarded.destroy());
    forwarded.end(body);
  });
  return `${url.replace('127.0.0.1', 'localhost')}${target.pathname}`;
}
