import { type LookupAddress, lookup } from 'node:dns';
import { promisify } from 'node:util';
import ipaddr from 'ipaddr.js';

/** Which hosts may be connected to on behalf of a configuration entry: those of the public internet, no others. */

/** All addresses of a name. */
export type Resolve = (name: string) => Promise<LookupAddress[]>;

const lookupAll = promisify(lookup);

export const resolveName: Resolve = (name) => lookupAll(name, { all: true });

/** What has been given out for use; other ranges are reserved or lead back into IPv4. */
const IPV6_PUBLIC = ipaddr.parseCIDR('2000::/3');

/** Not loopback, private, link-local, shared, multicast, documentation or reserved, in either family. */
export const isPublicAddress = (text: string): boolean => {
  if (!ipaddr.isValid(text)) return false;
  const address = ipaddr.process(text);
  return address.range() === 'unicast' && (address.kind() === 'ipv4' || address.match(IPV6_PUBLIC));
};
