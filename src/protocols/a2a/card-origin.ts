import { withoutTrailingSlashes } from '../../schema/trailing-slashes.ts';

/** Returns the origin for cards (a2a.md 4): the configured one, or else the origin of the request. */

export const cardOrigin = (
  header: (name: string) => string | undefined,
  { publicUrl, trustForwarded }: { publicUrl: string | undefined; trustForwarded: boolean },
): string => {
  if (publicUrl !== undefined) return withoutTrailingSlashes(publicUrl);
  const forwarded = (name: string): string | undefined =>
    trustForwarded ? header(name)?.split(',')[0]?.trim() : undefined;
  const scheme = forwarded('x-forwarded-proto')?.toLowerCase();
  const host = [forwarded('x-forwarded-host'), header('host')].find((name) => name && HOST.test(name));
  return `${scheme === 'https' ? 'https' : 'http'}://${host ?? 'localhost'}`;
};

/** A name, an IPv4 address or a bracketed IPv6 address, with or without a port. */
const HOST = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i;
