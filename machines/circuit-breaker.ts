import { assign, setup } from 'xstate';

/**
 * Whether a model is called (agent-loop.md 11, rule 6). The machine counts callers that fail, not their tries: one run
 * that repeats its call does not open the breaker for all others. Failures that follow the last counted one within
 * `burstMs` count as one, because connections that break together have one cause. Events carry their time, so the
 * machine needs no timer and its decisions can be repeated. The owner decides which calls may still report: a call
 * that began before the breaker opened must not answer for the probe.
 */

/** `threshold`: callers in a row whose failures open the breaker; 0 never opens it. */
export type BreakerLimits = { threshold: number; cooldownMs: number; burstMs: number };

export type BreakerContext = BreakerLimits & {
  /** Who failed since the last success while closed, each once. */
  failed: readonly string[];
  /** When the last of them was counted, in milliseconds. */
  countedAt: number;
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

const isCounted = ({ failed, countedAt, burstMs }: BreakerContext, event: BreakerEvent): boolean =>
  event.type === 'FAIL' && !failed.includes(event.by) && event.at >= countedAt + burstMs;

export const circuitBreakerMachine = setup({
  types: {} as { context: BreakerContext; events: BreakerEvent; input: BreakerLimits },
  guards: {
    hasFailed: ({ context }) => context.failed.length > 0,
    reachesThreshold: ({ context, event }) =>
      context.threshold > 0 && isCounted(context, event) && context.failed.length + 1 >= context.threshold,
    hasCooledDown: ({ context, event }) =>
      event.type === 'PROBE' && event.at >= context.openedAt + context.cooldownMs,
  },
  actions: {
    countFailure: assign(({ context, event }) =>
      event.type === 'FAIL' && isCounted(context, event)
        ? { failed: [...context.failed, event.by], countedAt: event.at }
        : {},
    ),
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
  context: ({ input }) => ({
    ...input,
    failed: [],
    countedAt: Number.NEGATIVE_INFINITY,
    cause: undefined,
    openedAt: 0,
  }),
  initial: 'closed',
  states: {
    closed: {
      description: 'The model is asked; callers that fail in a row are counted.',
      on: {
        SUCCEED: { guard: 'hasFailed', actions: 'forgetFailures', description: 'The row is broken.' },
        FAIL: [
          {
            guard: 'reachesThreshold',
            target: 'open',
            actions: ['noteCause', 'noteOpening'],
            description: 'Too many callers failed in a row.',
          },
          {
            actions: ['noteCause', 'countFailure'],
            description: 'Another failure in a row; one caller, and one burst of failures, count once.',
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
      description: 'One call is in progress; all others wait until the provider has responded to it.',
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
