import ipaddr from 'ipaddr.js';

/** Hosts that refer to the local host. */

/** Local names that need no resolution. */
export const isLocalName = (host: string): boolean => /(^|\.)localhost\.?$/i.test(host);

/** Accepts a name, an IPv4 address, or an IPv6 address with or without brackets. */
export const isLoopback = (host: string): boolean => {
  const bare = host.replace(/^\[|\]$/g, '');
  return isLocalName(bare) || (ipaddr.isValid(bare) && ipaddr.process(bare).range() === 'loopback');
};
