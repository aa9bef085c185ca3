import { assign, setup } from 'xstate';

/**
 * A queued unit of work on a thread. Leases and epochs fence every later write: whoever does not hold the
 * lease, or holds it for an epoch that the thread has left behind, can only make the dispatch superseded.
 */

export type DispatchContext = { attemptCount: number; maxAttempts: number; epoch: number };

/** How the run of a dispatch ended: as it may; by a failure that no attempt mends; by one too many that might have. */
export type RunEnded = 'consumed' | 'failed' | 'exhausted';

/** `threadEpoch` is the epoch of the thread at the time of the operation. */
export type DispatchEvent =
  | { type: 'CLAIM'; threadEpoch: number }
  | { type: 'RENEW' }
  | { type: 'ACK'; threadEpoch: number }
  | { type: 'NACK'; threadEpoch: number }
  | { type: 'DEAD_LETTER'; threadEpoch: number }
  | { type: 'LEASE_EXPIRED'; threadEpoch: number }
  | { type: 'RELEASE'; threadEpoch: number }
  | { type: 'RUN_ENDED'; threadEpoch: number; how: RunEnded }
  | { type: 'CANCEL' }
  | { type: 'SUPERSEDE' };

export const dispatchMachine = setup({
  types: {} as { context: DispatchContext; events: DispatchEvent; input: DispatchContext },
  guards: {
    attemptsLeft: ({ context }) => context.attemptCount + 1 < context.maxAttempts,
    hasFailed: ({ event }) => event.type === 'RUN_ENDED' && event.how === 'failed',
    isExhausted: ({ event }) => event.type === 'RUN_ENDED' && event.how === 'exhausted',
    staleEpoch: ({ context, event }) => 'threadEpoch' in event && context.epoch < event.threadEpoch,
  },
  actions: {
    countAttempt: assign({ attemptCount: ({ context }) => context.attemptCount + 1 }),
  },
}).createMachine({
  id: 'dispatch',
  description: 'Delivery of one input to one run. Acked means consumed, not successful.',
  context: ({ input }) => input,
  initial: 'queued',
  states: {
    queued: {
      description: 'Waits for its turn on the thread; nobody holds it.',
      on: {
        CLAIM: [
          {
            guard: 'staleEpoch',
            target: 'superseded',
            description: 'The thread moved on before the work was taken.',
          },
          { target: 'claimed', description: 'A worker takes the lease.' },
        ],
        CANCEL: { target: 'cancelled', description: 'Withdrawn before anybody worked on it.' },
        RUN_ENDED: [
          { guard: 'staleEpoch', target: 'superseded', description: 'Its run ended for newer work.' },
          { target: 'cancelled', description: 'Its run ended between two attempts.' },
        ],
        SUPERSEDE: {
          target: 'superseded',
          description: 'An interrupt or a foreground run bumped the epoch.',
        },
      },
    },
    claimed: {
      description: 'A worker holds the lease; only its token may write.',
      on: {
        RENEW: {
          target: 'claimed',
          description: 'The lease is extended. A renewal never ends a dispatch: its run would stay open.',
        },
        ACK: [
          { guard: 'staleEpoch', target: 'superseded', description: 'The result comes too late.' },
          { target: 'acked', description: 'The run consumed it.' },
        ],
        NACK: [
          { guard: 'staleEpoch', target: 'superseded', description: 'No retry for a superseded dispatch.' },
          {
            guard: 'attemptsLeft',
            target: 'queued',
            actions: 'countAttempt',
            description: 'Transient failure: it is retried after a delay.',
          },
          {
            target: 'deadLetter',
            actions: 'countAttempt',
            description: 'Transient failure, attempts used up.',
          },
        ],
        LEASE_EXPIRED: [
          { guard: 'staleEpoch', target: 'superseded', description: 'Lost, and superseded meanwhile.' },
          {
            guard: 'attemptsLeft',
            target: 'queued',
            actions: 'countAttempt',
            description: 'Its worker is gone; the next one continues from the last commit.',
          },
          { target: 'deadLetter', actions: 'countAttempt', description: 'Its workers keep dying.' },
        ],
        RELEASE: [
          { guard: 'staleEpoch', target: 'superseded', description: 'Given back, and superseded meanwhile.' },
          {
            target: 'queued',
            description: 'Its worker lives and gives it back; no attempt has failed, none is counted.',
          },
        ],
        DEAD_LETTER: [
          {
            guard: 'staleEpoch',
            target: 'superseded',
            description: 'Superseded before the failure was told.',
          },
          { target: 'deadLetter', description: 'Permanent failure.' },
        ],
        SUPERSEDE: { target: 'superseded', description: 'Its run was told to stop by a newer epoch.' },
        RUN_ENDED: [
          { guard: 'staleEpoch', target: 'superseded', description: 'The result comes too late.' },
          { guard: 'hasFailed', target: 'deadLetter', description: 'Permanent failure.' },
          {
            guard: 'isExhausted',
            target: 'deadLetter',
            actions: 'countAttempt',
            description: 'Transient failure, attempts used up.',
          },
          { target: 'acked', description: 'The run consumed it.' },
        ],
      },
    },
    acked: { type: 'final', description: 'Consumed.' },
    cancelled: { type: 'final', description: 'Withdrawn while queued.' },
    superseded: { type: 'final', description: 'Overtaken by an interrupt or a foreground run.' },
    deadLetter: { type: 'final', description: 'Failed for good.' },
  },
});
