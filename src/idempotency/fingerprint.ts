import { createHash } from 'node:crypto';

/** The parts of a request that its repeats have in common. */
export type Fingerprinted = {
  method: string;
  /** Path and query. */
  target: string;
  header(name: string): string | undefined;
  body: string;
};

/** Headers that name the conversation of a request. */
const OF_CONVERSATIONS = [
  'x-troupe-thread-id',
  'x-openwebui-chat-id',
  'x-librechat-conversation-id',
  'x-conversation-id',
];

/** Digest of everything that decides the effect of a request (runtime.md 0.8). */
export const fingerprintOf = ({ method, target, header, body }: Fingerprinted): string =>
  createHash('sha256')
    .update(JSON.stringify([method, target, ...OF_CONVERSATIONS.map((name) => header(name) ?? null)]))
    .update(body)
    .digest('base64url');
