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

/** Link-local addresses, other metadata services, and unspecified addresses. */
const FORBIDDEN_ADDRESSES = blockList([
  ['fe80::', 10],
  ['fd00:ec2::254', 128],
  ['0.0.0.0', 8],
  ['::', 128],
  ...inAllForms([
    ['169.254.0.0', 16],
    ['100.100.100.200', 32],
    ['168.63.129.16', 32],
    ['192.0.0.192', 32],
  ]),
]);

/** Whether something is on this machine, in its network, or elsewhere. */
export type Reach = 'machine' | 'network' | 'internet';

/** Where an IP address is. */
export function reachOf(address: string): Reach {
  if (listContains(MACHINE, address)) return 'machine';
  return listContains(NETWORK, address) ? 'network' : 'internet';
}

/** Whether an IP address is one that no server may make us use. */
export function isForbiddenAddress(address: string): boolean {
  return listContains(FORBIDDEN_ADDRESSES, address);
}

const MACHINE = blockList([['::1', 128], ...inAllForms([['127.0.0.0', 8]])]);
/** Private networks, those of providers and of IPv6, multicast, and reserved addresses. */
const NETWORK = blockList([
  ['64:ff9b:1::', 48],
  ['fc00::', 7],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
  ...inAllForms([
    ['10.0.0.0', 8],
    ['172.16.0.0', 12],
    ['192.168.0.0', 16],
    ['100.64.0.0', 10],
    ['169.254.0.0', 16],
    ['198.18.0.0', 15],
    ['224.0.0.0', 3],
  ]),
]);

/** IPv4 subnets, also as IPv6 writes and translates them. A list finds the form `::ffff:…` by itself. */
function inAllForms(subnets: readonly Subnet[]): readonly Subnet[] {
  return subnets.flatMap(([address, bits]): readonly Subnet[] => {
    const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number);
    const [high, low] = [(a * 256 + b).toString(16), (c * 256 + d).toString(16)];
    return [
      [address, bits],
      [`::${high}:${low}`, 96 + bits],
      [`::ffff:0:${high}:${low}`, 96 + bits],
      [`64:ff9b::${high}:${low}`, 96 + bits],
      [`2002:${high}:${low}::`, 16 + bits],
    ];
  });
}

type Subnet = readonly [address: string, bits: number];

function listContains(list: BlockList, host: string): boolean {
  const version = isIP(host);
  return version !== 0 && list.check(host, version === 4 ? 'ipv4' : 'ipv6');
}

function blockList(subnets: readonly Subnet[]): BlockList {
  const list = new BlockList();
  for (const [address, bits] of subnets) {
    list.addSubnet(address, bits, isIP(address) === 4 ? 'ipv4' : 'ipv6');
  }
  return list;
}
