import { withoutTrailingSlashes } from '../schema/trailing-slashes.ts';
import type { Scheme } from './listen-address.ts';

/**
 * Returns the origin of this service for links in responses (a2a.md 4): the configured one, or else that of the request.
 *
 * @param scheme of the listener, unless a proxy names another one
 */
export const publicOrigin = (
  header: (name: string) => string | undefined,
  {
    publicUrl,
    trustForwarded,
    scheme: own,
  }: { publicUrl: string | undefined; trustForwarded: boolean; scheme: Scheme },
): string => {
  if (publicUrl !== undefined) return withoutTrailingSlashes(publicUrl);
  const forwarded = (name: string): string | undefined =>
    trustForwarded ? header(name)?.split(',')[0]?.trim() : undefined;
  const named = forwarded('x-forwarded-proto')?.toLowerCase();
  const scheme = named === 'https' || named === 'http' ? named : own;
  const host = [forwarded('x-forwarded-host'), header('host')].find((name) => name && HOST.test(name));
  return `${scheme}://${host ?? 'localhost'}`;
};

/** A name, an IPv4 address or a bracketed IPv6 address, with or without a port. */
const HOST = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i;
