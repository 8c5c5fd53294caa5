import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface TokenProxyOptions {
  readonly target: URL;
  readonly token: string;
  /** What stands for what in requests: the suite's own resources, and ours in their place. */
  readonly renamed: Readonly<Record<string, string>>;
}

export interface TokenProxy {
  readonly url: string;
  close(): void;
}

/**
 * Stands in front of a server that asks for a token, for a client that cannot send one. Its own address is replaced
 * by that of the server; every other Host and Origin is passed on as it came.
 */
export async function startTokenProxy({ target, token, renamed }: TokenProxyOptions): Promise<TokenProxy> {
  const rename = (written: string) =>
    Object.entries(renamed).reduce((all, [from, to]) => all.replaceAll(from, to), written);
  const proxy = createServer(async (incoming, outgoing) => {
    const body = Buffer.from(rename(await text(incoming)));
    const ours = new RegExp(`^(http://)?(localhost|127\\.0\\.0\\.1):${portOf(proxy)}$`);
    const headers = Object.fromEntries(
      Object.entries(incoming.headers).map(([name, value]) => [
        name,
        String(value).replace(ours, `$1$2:${target.port}`),
      ]),
    );
    const name = headers['mcp-name'];
    const asked = request(
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
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        outgoing.flushHeaders();
        answer.pipe(outgoing);
      },
    );
    asked.on('error', () => outgoing.destroy());
    outgoing.on('close', () => asked.destroy());
    asked.end(body);
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  return {
    url: `http://localhost:${portOf(proxy)}${target.pathname}`,
    close: () => {
      proxy.close();
      proxy.closeAllConnections();
    },
  };
}

function portOf(server: { address(): AddressInfo | string | null }): number {
  return (server.address() as AddressInfo).port;
}
