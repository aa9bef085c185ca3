import { assign, setup } from 'xstate';

/**
 * Whether a model is asked at all (agent-loop.md 11, rule 6). Time is an input: events say when they happen, so
 * the machine needs no timer and what it decides can be repeated. Who may still report to it is its owner's
 * business: a call that began before the breaker opened must not answer for the probe.
 */

export type BreakerLimits = { threshold: number; cooldownMs: number };

export type BreakerContext = BreakerLimits & {
  /** Consecutive failures while closed. */
  failures: number;
  /** When it opened last, in milliseconds. */
  openedAt: number;
};

export type BreakerEvent =
  | { type: 'SUCCEED' }
  | { type: 'FAIL'; at: number }
  | { type: 'PROBE'; at: number }
  | { type: 'ABANDON' };

export const circuitBreakerMachine = setup({
  types: {} as { context: BreakerContext; events: BreakerEvent; input: BreakerLimits },
  guards: {
    hasFailed: ({ context }) => context.failures > 0,
    isLastStraw: ({ context }) => context.failures + 1 >= context.threshold,
    hasCooledDown: ({ context, event }) =>
      event.type === 'PROBE' && event.at >= context.openedAt + context.cooldownMs,
  },
  actions: {
    countFailure: assign({ failures: ({ context }) => context.failures + 1 }),
    forgetFailures: assign({ failures: 0 }),
    noteOpening: assign({
      failures: 0,
      openedAt: ({ context, event }) => (event.type === 'FAIL' ? event.at : context.openedAt),
    }),
  },
}).createMachine({
  id: 'circuit-breaker',
  description: 'Keeps runs away from a model that keeps failing, and finds out when it is back.',
  context: ({ input }) => ({ ...input, failures: 0, openedAt: 0 }),
  initial: 'closed',
  states: {
    closed: {
      description: 'The model is asked; failures in a row are counted.',
      on: {
        SUCCEED: { guard: 'hasFailed', actions: 'forgetFailures', description: 'The row is broken.' },
        FAIL: [
          {
            guard: 'isLastStraw',
            target: 'open',
            actions: 'noteOpening',
            description: 'Too many failures in a row.',
          },
          { actions: 'countFailure', description: 'One more failure in a row.' },
        ],
      },
    },
    open: {
      description: 'The model is not asked.',
      on: {
        PROBE: {
          guard: 'hasCooledDown',
          target: 'halfOpen',
          description: 'The cooldown is over: one call may find out.',
        },
      },
    },
    halfOpen: {
      description: 'One call is under way; everybody else is kept away until it has ended.',
      on: {
        SUCCEED: { target: 'closed', description: 'The model is back.' },
        FAIL: {
          target: 'open',
          actions: 'noteOpening',
          description: 'It is not; the cooldown begins again.',
        },
        ABANDON: {
          target: 'open',
          description: 'The probe was cancelled and says nothing; the next call is a probe.',
        },
      },
    },
  },
});
