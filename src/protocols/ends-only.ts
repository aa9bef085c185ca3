import type { Protocol } from '../runtime/run/live-channel.ts';

/** For readers that wait for the end of a run only. */
export const ENDS_ONLY: Protocol = {
  name: 'ends only',
  createEncoder: () => ({ event: () => '', text: () => '', reasoning: () => '', toolDelta: () => '' }),
};
