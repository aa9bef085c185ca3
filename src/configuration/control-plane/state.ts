import { createStore } from '@xstate/store';
import type { Content } from './content.ts';
import type { Marks } from './publication.ts';
import type { Snapshot } from './snapshot.ts';
import type { Stored } from './stored.ts';

/**
 * The current state of the configuration. The event of a commit replaces it as a whole, so readers never observe a
 * partial change; observers subscribe to it.
 */
export type ConfigState = Published & { stored: Stored };

export type Published = {
  /** Snapshot against which new runs are resolved. */
  live: Snapshot;
  content: Content;
  /** Versions of the live resources. */
  marks: Marks;
  /** Number of the last publication, including previews. */
  last: number;
};

export const createConfigState = (first: ConfigState) =>
  createStore({
    context: first,
    on: {
      /** Replaces the stored and the live content. */
      published: (before, { type: _, ...now }: { type: 'published' } & Published & { stored?: Stored }) => ({
        ...before,
        ...now,
      }),
      /** Replaces the stored content only. */
      stored: (before, { stored }: { stored: Stored }) => ({ ...before, stored }),
      /** Counts the publication of a draft; the live content is unchanged. */
      previewed: (before) => ({ ...before, last: before.last + 1 }),
    },
  });
