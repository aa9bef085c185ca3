import { unusable } from './keys.ts';

/** Local addresses from which the credentials of this host may be requested. */

/** The addresses of ECS and EKS, and of an instance's metadata. */
const METADATA = ['[fd00:ec2::23]', '[fd00:ec2::254]'];

/**
 * `variable`: the source of the address, for the error. @throws ModelError for an address that may belong to another
 * host
 */
export const checkLocal = (address: string, variable: string): URL => {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url?.protocol === 'http:' && isLocal(url.hostname)) return url;
  throw unusable(
    `${variable} must be an http address of this host (127.0.0.0/8, [::1], localhost) or of a metadata service (169.254.0.0/16, ${METADATA.join(', ')})`,
  );
};

/** `URL` normalizes every form of an IPv4 address to four decimal numbers. */
const isLocal = (host: string): boolean =>
  host === 'localhost' ||
  host === '[::1]' ||
  METADATA.includes(host) ||
  /^(127\.\d+|169\.254)\.\d+\.\d+$/.test(host);
