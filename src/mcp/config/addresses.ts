import { BlockList, isIP } from 'node:net';
import { hostOf, isLoopback } from '../../base/addresses.ts';

/**
 * Why a URL from a server must not be opened or fetched, as the end of a sentence. Refuses other schemes, plain http
 * to another machine, user names that imitate a host, and the metadata services of cloud machines.
 */
export function refusalReason(url: URL): string | undefined {
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'only https is allowed';
  const host = hostOf(url);
  if (METADATA_NAMES.has(host) || listContains(FORBIDDEN_ADDRESSES, host)) {
    return 'it could expose the credentials of this machine';
  }
  if (url.username !== '' || url.password !== '') return 'it contains a user name';
  if (url.protocol === 'http:' && !isLoopback(url)) return 'the connection would not be encrypted';
  return undefined;
}

const METADATA_NAMES: ReadonlySet<string> = new Set([
  'metadata',
  'metadata.google.internal',
  'metadata.goog',
  'instance-data',
  'instance-data.ec2.internal',
]);

/** Link-local addresses in all their IPv6 forms, other metadata services, and unspecified addresses. */
const FORBIDDEN_ADDRESSES = blockList([
  ['169.254.0.0', 16],
  ['::a9fe:0', 112],
  ['64:ff9b::a9fe:0', 112],
  ['2002:a9fe::', 32],
  ['fe80::', 10],
  ['fd00:ec2::254', 128],
  ['100.100.100.200', 32],
  ['168.63.129.16', 32],
  ['192.0.0.192', 32],
  ['0.0.0.0', 8],
  ['::', 128],
]);

function listContains(list: BlockList, host: string): boolean {
  const version = isIP(host);
  return version !== 0 && list.check(host, version === 4 ? 'ipv4' : 'ipv6');
}

function blockList(subnets: readonly (readonly [address: string, bits: number])[]): BlockList {
  const list = new BlockList();
  for (const [address, bits] of subnets) {
    list.addSubnet(address, bits, isIP(address) === 4 ? 'ipv4' : 'ipv6');
  }
  return list;
}
