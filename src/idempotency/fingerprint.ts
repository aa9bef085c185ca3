import { createHash } from 'node:crypto';

/** The parts of a request that its repeats have in common. */
export type Fingerprinted = {
  method: string;
  /** Path and query. */
  target: string;
  header(name: string): string | undefined;
  /** Names of the headers that name the conversation of a request. */
  conversationHeaders: readonly string[];
  body: string;
};

/** Digest of everything that decides the effect of a request (runtime.md 0.8). */
export const fingerprintOf = ({ method, target, header, conversationHeaders, body }: Fingerprinted): string =>
  createHash('sha256')
    .update(JSON.stringify([method, target, ...conversationHeaders.map((name) => header(name) ?? null)]))
    .update(body)
    .digest('base64url');

/** @param content of a body that was read after the rest of the request */
export const withContent = (fingerprint: string, content: string): string =>
  createHash('sha256').update(fingerprint).update('\0').update(content).digest('base64url');
