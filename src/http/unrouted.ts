import type { Reply } from './reply.ts';

/**
 * What answers where no route is: files and pages. It knows nothing of scopes and rights, so nothing that it answers
 * may be of anybody's data. What it does not answer is refused as ever.
 */
export type Unrouted = {
  /** Of its answers in the metrics. */
  label: string;
  /** @param path as it was sent, without the query */
  answer(request: {
    method: string;
    path: string;
    header(name: string): string | undefined;
  }): Reply | undefined;
};
