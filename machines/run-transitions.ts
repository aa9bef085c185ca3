import type {
  Blocked,
  Checkpointed,
  Decided,
  Inferred,
  Outcome,
  RunContext,
  RunEntry,
  Validated,
} from './run-types.ts';

/** Transitions that several states of a run share. */

type Failed = { event: { error: unknown } };
type Found = { event: { output: Outcome } };
export type Reclaimed = { event: { output: { entry: RunEntry } } };

/** Passes the error of the failed service on. */
export const because = { params: ({ event }: Failed) => ({ error: event.error }) };

/** A worker holds the dispatch: the execution starts where the last commit left off. */
export const begins = <Args>(params: (args: Args) => { entry: RunEntry }) =>
  [
    {
      guard: { type: 'carriesDecisions', params },
      target: '#run.running.deciding',
      description: 'Decisions come first.',
    },
    {
      guard: { type: 'hasUnfinishedCalls', params },
      target: '#run.running.acting',
      description: 'A crash left calls without a result.',
    },
    { target: '#run.running.inferring', description: 'New input, or a step boundary.' },
  ] as const;

/** After a failure of a service, the attempt is repeated from the last commit, or the run ends. */
export const failed = (retried: string, final: string) =>
  [
    {
      guard: { type: 'canRetry', ...because },
      target: '#run.running.retrying',
      actions: { type: 'countAttempt', ...because },
      description: retried,
    },
    {
      target: '#run.concluding',
      actions: { type: 'fail', ...because },
      description: final,
    },
  ] as const;

export const storeFailed = (final: string) =>
  failed('The store failed; the attempt is repeated from the last commit.', final);

/** Nothing that could be repeated is executing: a failed phase ends the run, and a store failure releases it. */
export const notWritten = (final: string) =>
  [
    {
      guard: { type: 'isFinal', ...because },
      target: '#run.ending',
      actions: { type: 'fail', ...because },
      description: final,
    },
    { target: '#run.released', description: 'The store rejected the commit; the lease will expire.' },
  ] as const;

/** Passes the result of a service on to the guards of its transitions. */
export const found = { params: ({ event }: Found) => event.output };
export const decided = { params: ({ event }: { event: { output: Decided } }) => event.output };
export const inferred = { params: ({ event }: { event: { output: Inferred } }) => event.output };
export const checkpointed = { params: ({ event }: { event: { output: Checkpointed } }) => event.output };

/** Invokes a service with the whole context as its input. */
export const invoked = <const Source extends string>(src: Source) => ({
  src,
  input: ({ context }: { context: RunContext }) => context,
});

/** The run ends with the ending that the service returned. */
export const asReturned = {
  type: 'end',
  params: ({ event }: { event: { output: Inferred | Validated | Decided } }) => ({
    // The guards of these transitions only pass results that have an ending.
    ending: (event.output as Extract<Inferred | Validated | Decided, { ending: unknown }>).ending,
  }),
} as const;

export const blocked = {
  guard: { type: 'isBlocked', ...found },
  target: '#run.concluding',
  actions: {
    type: 'end',
    params: ({ event }: Found) => ({
      // The guard of this transition only passes results of kind `blocked`.
      ending: { type: 'blocked' as const, value: (event.output as Blocked).reason },
    }),
  },
  description: 'A gate forbids a call.',
} as const;

/** Transitions to a wait for a person or the client, during which nothing executes. */
export const interactionWaits = (whose: string) =>
  [
    {
      guard: { type: 'needsDecision', ...found },
      target: '#run.waiting.forDecision',
      description: `${whose} waits for a decision.`,
    },
    {
      guard: { type: 'needsAuthentication', ...found },
      target: '#run.waiting.forAuthentication',
      description: `${whose} waits for a login.`,
    },
    {
      guard: { type: 'needsBudget', ...found },
      target: '#run.waiting.forBudget',
      description: `${whose} waits for a budget.`,
    },
    {
      guard: { type: 'needsInput', ...found },
      target: '#run.waiting.forInput',
      description: `${whose} waits for input.`,
    },
  ] as const;

export const cancel = { type: 'end', params: { ending: { type: 'cancelled' } } } as const;

export const naturally = { type: 'end', params: { ending: { type: 'natural_end' } } } as const;

/** Cancels a run without an execution that would have to conclude first. */
export const cancelled = (description: string) =>
  ({ target: '#run.ending', actions: cancel, description }) as const;

export const deadLetter = (description: string) =>
  ({
    target: '#run.ending',
    actions: {
      type: 'end',
      params: ({ event }: { event: { reason: string } }) => ({
        ending: { type: 'error' as const, value: event.reason },
      }),
    },
    description,
  }) as const;
