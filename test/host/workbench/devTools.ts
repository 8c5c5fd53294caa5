/** Connects Playwright to a running browser. */
import { once } from 'node:events';
import { type Browser, type ConnectOverCDPTransport, chromium } from 'playwright-core';

/** `url` is where the browser takes DevTools connections. */
export async function connectToBrowser(url: string): Promise<Browser> {
  const version = (await (await fetch(`${url}/json/version`)).json()) as { webSocketDebuggerUrl: string };
  const socket = new WebSocket(version.webSocketDebuggerUrl);
  await once(socket, 'open');
  return chromium.connectOverCDP(quietly(socket));
}

/**
 * Playwright listens to the network, and then the browser repeats to it whatever the page and the extension host say to
 * each other: nearly all of what it has to say, and no test asks for it.
 */
function quietly(socket: WebSocket): ConnectOverCDPTransport {
  const transport: ConnectOverCDPTransport = {
    send: (message) => socket.send(JSON.stringify(withoutNetwork(message))),
    close: () => socket.close(),
  };
  socket.addEventListener('message', ({ data }) => transport.onmessage?.(JSON.parse(String(data))));
  socket.addEventListener('close', () => transport.onclose?.());
  return transport;
}

function withoutNetwork(message: { readonly method?: string }): object {
  return message.method === 'Network.enable' ? { ...message, method: 'Network.disable' } : message;
}
