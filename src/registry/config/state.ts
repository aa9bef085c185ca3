import { createStore } from '@xstate/store';
import type { Content } from './content.ts';
import type { Marks } from './publication.ts';
import type { Snapshot } from './snapshot.ts';
import type { Stored } from './stored.ts';

/**
 * What the configuration is at this moment. It is exchanged as a whole by the event that tells of a commit, so nobody
 * sees half of a change; who wants to know of changes subscribes.
 */
export type ConfigState = Published & { stored: Stored };

export type Published = {
  /** What new runs are resolved against. */
  live: Snapshot;
  content: Content;
  /** Versions of what is live. */
  marks: Marks;
  /** Number of the last publication, a preview included. */
  last: number;
};

export const createConfigState = (first: ConfigState) =>
  createStore({
    context: first,
    on: {
      /** Stored and live from now on. */
      published: (before, { type: _, ...now }: { type: 'published' } & Published & { stored?: Stored }) => ({
        ...before,
        ...now,
      }),
      /** Stored, and not live. */
      stored: (before, { stored }: { stored: Stored }) => ({ ...before, stored }),
      /** Somebody looks at a draft; what is live stays. */
      previewed: (before) => ({ ...before, last: before.last + 1 }),
    },
  });
