import ipaddr from 'ipaddr.js';

/** Hosts that lead nowhere but to the machine itself. */

/** Names that do so whatever is resolved. */
export const isLocalName = (host: string): boolean => /(^|\.)localhost\.?$/i.test(host);

/** A name, an IPv4 address, or an IPv6 one with or without brackets. */
export const isLoopback = (host: string): boolean => {
  const bare = host.replace(/^\[|\]$/g, '');
  return isLocalName(bare) || (ipaddr.isValid(bare) && ipaddr.process(bare).range() === 'loopback');
};
