import { assign, setup } from 'xstate';

/**
 * A queued unit of work on a thread. Leases and epochs fence every later write: a worker without the lease, or with a
 * lease for an outdated epoch of the thread, can only make the dispatch superseded.
 */

export type DispatchContext = { attemptCount: number; maxAttempts: number; epoch: number };

/**
 * How the run of a dispatch ended: `consumed` with any regular ending, `failed` permanently, `exhausted` with a
 * transient failure after the last attempt.
 */
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

/**
 * The delivery of one input to one run (runtime.md 7.3). Leases and epochs reject writes of outdated workers.
 *
 * @example
 * ```ts
 * import { initialTransition, transition } from 'xstate';
 *
 * const [queued] = initialTransition(dispatchMachine, { epoch: 2, attemptCount: 0, maxAttempts: 3 });
 * const [outdated] = transition(dispatchMachine, queued, { type: 'CLAIM', threadEpoch: 3 });
 * console.log(outdated.value); // superseded
 * ```
 */
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
      description: 'Waits for its thread to start it; no worker holds the lease.',
      on: {
        CLAIM: [
          {
            guard: 'staleEpoch',
            target: 'superseded',
            description: 'Superseded before a worker claimed it.',
          },
          { target: 'claimed', description: 'A worker claims the lease.' },
        ],
        CANCEL: { target: 'cancelled', description: 'Withdrawn before a worker claimed it.' },
        RUN_ENDED: [
          {
            guard: 'staleEpoch',
            target: 'superseded',
            description: 'Its run ended because newer work superseded it.',
          },
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
          {
            guard: 'staleEpoch',
            target: 'superseded',
            description: 'The result arrived after the dispatch was superseded.',
          },
          { target: 'acked', description: 'The run consumed it.' },
        ],
        NACK: [
          { guard: 'staleEpoch', target: 'superseded', description: 'No retry for a superseded dispatch.' },
          {
            guard: 'attemptsLeft',
            target: 'queued',
            actions: 'countAttempt',
            description: 'Transient failure; retried after a delay.',
          },
          {
            target: 'deadLetter',
            actions: 'countAttempt',
            description: 'Transient failure; the attempts are exhausted.',
          },
        ],
        LEASE_EXPIRED: [
          {
            guard: 'staleEpoch',
            target: 'superseded',
            description: 'The lease expired and the dispatch was superseded.',
          },
          {
            guard: 'attemptsLeft',
            target: 'queued',
            actions: 'countAttempt',
            description: 'The lease expired; the next worker continues from the last commit.',
          },
          { target: 'deadLetter', actions: 'countAttempt', description: 'The lease expired too often.' },
        ],
        RELEASE: [
          { guard: 'staleEpoch', target: 'superseded', description: 'Released after it was superseded.' },
          {
            target: 'queued',
            description: 'Its worker releases it; no attempt is counted.',
          },
        ],
        DEAD_LETTER: [
          {
            guard: 'staleEpoch',
            target: 'superseded',
            description: 'Superseded before the failure was reported.',
          },
          { target: 'deadLetter', description: 'Permanent failure.' },
        ],
        SUPERSEDE: { target: 'superseded', description: 'A newer epoch stopped its run.' },
        RUN_ENDED: [
          {
            guard: 'staleEpoch',
            target: 'superseded',
            description: 'The result arrived after the dispatch was superseded.',
          },
          { guard: 'hasFailed', target: 'deadLetter', description: 'Permanent failure.' },
          {
            guard: 'isExhausted',
            target: 'deadLetter',
            actions: 'countAttempt',
            description: 'Transient failure; the attempts are exhausted.',
          },
          { target: 'acked', description: 'The run consumed it.' },
        ],
      },
    },
    acked: { type: 'final', description: 'Consumed.' },
    cancelled: { type: 'final', description: 'Withdrawn while queued.' },
    superseded: { type: 'final', description: 'Superseded by an interrupt or a foreground run.' },
    deadLetter: { type: 'final', description: 'Failed permanently.' },
  },
});
