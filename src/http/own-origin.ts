import { hostname } from './hosts.ts';
import type { Scheme } from './listen-address.ts';

/**
 * Returns the origin under which the client reaches this service (identity.md 2.5, 3.6): that of the public URL, or else
 * that of the request.
 *
 * Relies on `lines` to hide the forwarded headers of untrusted peers. They count when they are one line with one value,
 * because a proxy that appends to the line of a client does not vouch for all of it.
 *
 * @param scheme of the listener that accepted the request
 */
export type OwnOrigin = (headers: { lines(name: string): readonly string[] }, scheme: Scheme) => string;

export const createOwnOrigin = (publicUrl: string | undefined): OwnOrigin => {
  if (publicUrl !== undefined) {
    const { origin } = new URL(publicUrl);
    return () => origin;
  }
  return ({ lines }, scheme) => {
    const named = only(lines('x-forwarded-proto'))?.toLowerCase();
    const host = [only(lines('x-forwarded-host')), only(lines('host'))].find(isHost) ?? 'localhost';
    return new URL(`${named === 'https' || named === 'http' ? named : scheme}://${host}`).origin;
  };
};

const only = (lines: readonly string[]): string | undefined => {
  const [line, ...others] = lines;
  return others.length > 0 || line?.includes(',') ? undefined : line?.trim();
};

const isHost = (host: string | undefined): host is string =>
  host !== undefined && hostname(host) !== undefined && URL.canParse(`http://${host}`);
