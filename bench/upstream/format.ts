import type { IncomingHttpHeaders } from 'node:http';
import type { Answer, Asked, Chunk } from './answer.ts';
import type { Refusal } from './refusal.ts';

export type UpstreamRequest = { url: URL; headers: IncomingHttpHeaders; body: unknown };

/** The wire format of a provider, from its server's side. */
export type UpstreamFormat = {
  /** True for paths that use this format. */
  serves(path: string): boolean;
  /** @throws Refusal where the real service refuses the request */
  read(request: UpstreamRequest): Asked;
  encode(asked: Asked, answer: Answer): Chunk[];
  /** The body of an error response. */
  describe(refusal: Refusal): object;
};
