/** Longer addresses cannot be shown whole, and nobody may open what was not shown. */
const MAX_URL_CHARS = 4000;

/**
 * The address that a server wants the user to visit, if it is one that may be opened at all. Throws a sentence for
 * everything else: other schemes, names and passwords that pretend to be a host, plain http to another machine, and
 * addresses that lead into a cloud's own network.
 */
export function checkElicitationUrl(text: string): URL {
  if (text.length > MAX_URL_CHARS)
    throw new Error('The address is too long to be shown, so it is not opened.');
  if (!URL.canParse(text)) throw new Error('The address is not a URL.');
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw new Error(`Only http and https addresses are opened, and this one begins with ${url.protocol}`);
  }
  if (url.username !== '' || url.password !== '') {
    throw new Error('The address holds a user name or a password, so it is not opened.');
  }
  if (isForbidden(url)) throw new Error(`Addresses such as ${url.hostname} are never opened.`);
  if (url.protocol === 'http:' && !isLoopback(url)) {
    throw new Error(`The address at ${url.host} is not encrypted: http is only opened on this computer.`);
  }
  return url;
}

const METADATA_HOSTS: ReadonlySet<string> = new Set([
  'metadata.google.internal',
  'metadata',
  '100.100.100.200',
]);

/** Link-local, unspecified, and the addresses at which clouds tell machines their secrets. */
function isForbidden(url: URL): boolean {
  const host = nameOf(url);
  const v4 = mappedV4(host) ?? host;
  if (METADATA_HOSTS.has(v4) || v4.startsWith('169.254.') || v4.startsWith('0.')) return true;
  return /^\[(?:fe[89ab][0-9a-f]:|fd00:ec2:|::\]$)/.test(host);
}

function isLoopback(url: URL): boolean {
  const host = nameOf(url);
  const v4 = mappedV4(host) ?? host;
  return host === 'localhost' || host.endsWith('.localhost') || host === '[::1]' || isLoopbackV4(v4);
}

/** `URL` has already turned every way to write such an address into this one. */
function isLoopbackV4(host: string): boolean {
  return /^127\.\d+\.\d+\.\d+$/.test(host);
}

/** A dot at the end changes nothing about where a name leads. */
function nameOf(url: URL): string {
  return url.hostname.replace(/\.+$/, '');
}

/** `[::ffff:a9fe:1]` is 169.254.0.1. */
function mappedV4(host: string): string | undefined {
  const [, high, low] = /^\[::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})\]$/.exec(host) ?? [];
  if (high === undefined || low === undefined) return undefined;
  const [a, b] = [Number.parseInt(high, 16), Number.parseInt(low, 16)];
  return [a >> 8, a & 255, b >> 8, b & 255].join('.');
}
