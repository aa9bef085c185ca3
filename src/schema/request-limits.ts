import type { Principal } from './principal.ts';

/** Limits of the requests and event streams of a principal (identity.md 5.1). */
export type RequestLimits = {
  /** Counts a request. @throws RateLimited */
  request(principal: Principal, target: { path: string; params: Readonly<Record<string, string>> }): void;
  /** Counts an event stream until the returned function is called. @throws RateLimited */
  openStream(principal: Principal): () => void;
};
