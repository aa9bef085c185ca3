import { createHash } from 'node:crypto';

/** Entity tags of responses (RFC 9110 8.8.3). */

/** A strong tag of these contents. */
export function etagOf(...contents: readonly (string | Uint8Array)[]): string {
  const hash = createHash('sha256');
  for (const content of contents) hash.update(content);
  return `"${hash.digest('base64url').slice(0, LENGTH)}"`;
}

/** Characters of a tag: 162 bits of the hash. */
const LENGTH = 27;

/** Returns whether one of the tags that the client has cached, weak or not, is this tag. */
export function isCached(ifNoneMatch: string | undefined, etag: string): boolean {
  return (ifNoneMatch ?? '')
    .split(',')
    .map((tag) => tag.trim().replace(/^W\//, ''))
    .some((tag) => tag === '*' || tag === etag);
}
