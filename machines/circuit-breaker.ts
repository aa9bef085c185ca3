import { assign, setup } from 'xstate';

/**
 * Whether a model is asked at all (agent-loop.md 11, rule 6). What counts are callers that fail, not their tries: one
 * run that repeats itself does not keep the model from everybody else. Time is an input: events say when they happen, so
 * the machine needs no timer and what it decides can be repeated. Who may still report to it is its owner's
 * business: a call that began before the breaker opened must not answer for the probe.
 */

export type BreakerLimits = { threshold: number; cooldownMs: number };

export type BreakerContext = BreakerLimits & {
  /** Who failed since the last success while closed, each once. */
  failed: readonly string[];
  /** Why the model failed last. */
  cause: string | undefined;
  /** When it opened last, in milliseconds. */
  openedAt: number;
};

export type BreakerEvent =
  | { type: 'SUCCEED' }
  | { type: 'FAIL'; at: number; by: string; cause: string }
  | { type: 'PROBE'; at: number }
  | { type: 'ABANDON' };

const failedWith = ({ failed }: BreakerContext, event: BreakerEvent): readonly string[] =>
  event.type !== 'FAIL' || failed.includes(event.by) ? failed : [...failed, event.by];

export const circuitBreakerMachine = setup({
  types: {} as { context: BreakerContext; events: BreakerEvent; input: BreakerLimits },
  guards: {
    hasFailed: ({ context }) => context.failed.length > 0,
    isLastStraw: ({ context, event }) => failedWith(context, event).length >= context.threshold,
    hasCooledDown: ({ context, event }) =>
      event.type === 'PROBE' && event.at >= context.openedAt + context.cooldownMs,
  },
  actions: {
    countFailure: assign({ failed: ({ context, event }) => failedWith(context, event) }),
    forgetFailures: assign({ failed: [] }),
    noteCause: assign({
      cause: ({ context, event }) => (event.type === 'FAIL' ? event.cause : context.cause),
    }),
    noteOpening: assign({
      failed: [],
      openedAt: ({ context, event }) => (event.type === 'FAIL' ? event.at : context.openedAt),
    }),
  },
}).createMachine({
  id: 'circuit-breaker',
  description: 'Keeps runs away from a model that keeps failing, and finds out when it is back.',
  context: ({ input }) => ({ ...input, failed: [], cause: undefined, openedAt: 0 }),
  initial: 'closed',
  states: {
    closed: {
      description: 'The model is asked; callers that fail in a row are counted.',
      on: {
        SUCCEED: { guard: 'hasFailed', actions: 'forgetFailures', description: 'The row is broken.' },
        FAIL: [
          {
            guard: 'isLastStraw',
            target: 'open',
            actions: ['noteCause', 'noteOpening'],
            description: 'Too many callers failed in a row.',
          },
          {
            actions: ['noteCause', 'countFailure'],
            description: 'One more failure in a row; of one caller only the first counts.',
          },
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
          actions: ['noteCause', 'noteOpening'],
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
