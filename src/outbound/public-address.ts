import { type LookupAddress, lookup } from 'node:dns';
import { promisify } from 'node:util';
import ipaddr from 'ipaddr.js';

/** Restricts connections on behalf of configuration entries to hosts of the public internet. */

/** Returns all addresses of a name. */
export type Resolve = (name: string) => Promise<LookupAddress[]>;

const lookupAll = promisify(lookup);

export const resolveName: Resolve = (name) => lookupAll(name, { all: true });

/** The allocated range; other ranges are reserved or map to IPv4. */
const IPV6_PUBLIC = ipaddr.parseCIDR('2000::/3');

/** Excludes loopback, private, link-local, shared, multicast, documentation and reserved addresses of both families. */
export const isPublicAddress = (text: string): boolean => {
  if (!ipaddr.isValid(text)) return false;
  const address = ipaddr.process(text);
  return address.range() === 'unicast' && (address.kind() === 'ipv4' || address.match(IPV6_PUBLIC));
};
