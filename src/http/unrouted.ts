import type { Reply } from './reply.ts';

/**
 * Handles paths without a route: files and pages. It receives no scope and no rights, so its responses must not contain
 * user data. Requests that it does not answer are rejected as usual.
 */
export type Unrouted = {
  /** Label of its responses in the metrics. */
  label: string;
  /** @param path the path as it was sent, without the query */
  answer(request: {
    method: string;
    path: string;
    header(name: string): string | undefined;
  }): Reply | undefined;
};
