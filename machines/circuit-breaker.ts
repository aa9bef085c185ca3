import { assign, setup } from 'xstate';

/**
 * Decides whether a model is called (agent-loop.md 11, rule 6). The machine counts failing callers, not attempts: one
 * run that repeats its call does not open the breaker for all others. Failures within `burstMs` of the last counted one
 * count as one, because connections that break together have one cause. Events carry their time, so the machine needs
 * no timer and its decisions can be replayed. The owner decides which calls may still report: a call that began before
 * the breaker opened must not report as the probe.
 */

/** `threshold`: consecutive failing callers that open the breaker; 0 never opens it. */
export type BreakerLimits = { threshold: number; cooldownMs: number; burstMs: number };

export type BreakerContext = BreakerLimits & {
  /** Distinct callers that failed since the last success while closed. */
  failed: readonly string[];
  /** Time of the last counted failure, in milliseconds. */
  countedAt: number;
  /** Cause of the last failure of the model. */
  cause: string | undefined;
  /** Time of the last opening, in milliseconds. */
  openedAt: number;
};

export type BreakerEvent =
  | { type: 'SUCCEED' }
  | { type: 'FAIL'; at: number; by: string; cause: string }
  | { type: 'PROBE'; at: number }
  | { type: 'ABANDON' };

const isCounted = ({ failed, countedAt, burstMs }: BreakerContext, event: BreakerEvent): boolean =>
  event.type === 'FAIL' && !failed.includes(event.by) && event.at >= countedAt + burstMs;

/**
 * Decides whether a model is called (agent-loop.md 11): after `threshold` failing callers in a row, calls are
 * rejected for `cooldownMs`, then one call is a probe. Times are in milliseconds.
 *
 * @example
 * ```ts
 * import { initialTransition, transition } from 'xstate';
 *
 * const [closed] = initialTransition(circuitBreakerMachine, { threshold: 1, cooldownMs: 30_000, burstMs: 1000 });
 * const failure = { type: 'FAIL', at: 5000, by: 'run-1', cause: 'overloaded' } as const;
 * const [open] = transition(circuitBreakerMachine, closed, failure);
 * console.log(open.value, open.can({ type: 'PROBE', at: 35_000 })); // open true
 * ```
 */
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
  description: 'Rejects calls to a model that fails repeatedly, and detects its recovery.',
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
      description: 'Calls pass; consecutive failing callers are counted.',
      on: {
        SUCCEED: {
          guard: 'hasFailed',
          actions: 'forgetFailures',
          description: 'A call succeeded; the count is reset.',
        },
        FAIL: [
          {
            guard: 'reachesThreshold',
            target: 'open',
            actions: ['noteCause', 'noteOpening'],
            description: 'The limit of consecutive failures is reached.',
          },
          {
            actions: ['noteCause', 'countFailure'],
            description: 'Another consecutive failure; one caller and one burst of failures count once.',
          },
        ],
      },
    },
    open: {
      description: 'Calls are rejected.',
      on: {
        PROBE: {
          guard: 'hasCooledDown',
          target: 'halfOpen',
          description: 'The cooldown is over; one call is a probe.',
        },
      },
    },
    halfOpen: {
      description: 'One call is in progress; all others wait until the provider has responded to it.',
      on: {
        SUCCEED: { target: 'closed', description: 'The probe succeeded.' },
        FAIL: {
          target: 'open',
          actions: ['noteCause', 'noteOpening'],
          description: 'The probe failed; the cooldown restarts.',
        },
        ABANDON: {
          target: 'open',
          description: 'The probe was cancelled without a result; the next call is a probe.',
        },
      },
    },
  },
});
