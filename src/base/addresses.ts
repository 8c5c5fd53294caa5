/** The host of a URL without brackets and final dots. A host can have a million dots, so only a run of them is tried. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '').replace(/(?<!\.)\.+$/, '');
}

/** IPv4, IPv6, and IPv4 in IPv6, as URLs write them. */
const LOOPBACK_ADDRESS = /^(?:127(?:\.\d{1,3}){3}|::1|::ffff:7f[\da-f]{2}:[\da-f]{1,4})$/;

/** Whether the address is on this machine. */
export function isLoopback(url: URL): boolean {
  const host = hostOf(url);
  return host === 'localhost' || host.endsWith('.localhost') || LOOPBACK_ADDRESS.test(host);
}
