import { assign, fromPromise, setup } from 'xstate';

/**
 * One execution of an agent on a thread. Each state that works invokes one service; the service returns what it
 * found, and the transition says what comes next. The status on the wire is the tag of the state: a state whose
 * service writes the record carries the tag of the status that it writes.
 *
 * `host` is whatever the services need to do their work; the machine hands it on and never looks inside.
 */

export type RunEnding =
  | { type: 'natural_end' }
  | { type: 'behavior_requested' }
  | { type: 'cancelled' }
  | { type: 'stopped'; value: { code: string; detail?: string } }
  | { type: 'blocked'; value: string }
  | { type: 'error'; value: string };

/** What an inference led to. */
export type Inferred =
  | { kind: 'answer' }
  | { kind: 'calls' }
  | { kind: 'truncated' }
  | { kind: 'pending_work' }
  | { kind: 'asks' }
  | { kind: 'stopped'; ending: RunEnding };

/** What the tool calls of a step led to. */
export type Acted = { kind: 'executed' } | { kind: 'suspended' } | { kind: 'blocked'; reason: string };

/** What the decisions and the input that ended a wait led to. */
export type Decided = { kind: 'resolved' } | { kind: 'suspended' } | { kind: 'blocked'; reason: string };

/**
 * `over`: the model had answered, and there was no input for another step; `waits`: nor is there an end, since
 * background tasks are still at work.
 */
export type Checkpointed = { over: false } | { over: true; waits?: boolean };

/** Where an execution begins: with an inference, in the middle of a step after a crash, or with decisions. */
export type RunEntry = 'inference' | 'unfinished_calls' | 'decisions';

export type RunInput = { host: object; entry: RunEntry; attempt: number; maxAttempts: number };

export type RunContext = RunInput & {
  ending: RunEnding | undefined;
  /** Input was handed to this run and waits for the next step boundary. */
  steered: boolean;
  /** A decision was handed to this run and waits until no call executes any more. */
  decided: boolean;
};

export type RunMachineEvent =
  | { type: 'CLAIM' }
  | { type: 'CANCEL' }
  | { type: 'SUPERSEDE' }
  | { type: 'DEAD_LETTER'; reason: string }
  | { type: 'STEER' }
  | { type: 'RESUME' }
  | { type: 'RELEASE' };

type Failure = { transient?: boolean; final?: boolean };
type Failed = { event: { error: unknown } };
type Blocked = { event: { output: Acted | Decided } };

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Services get the whole context: the host to work with, and how the run is to end. */
const service = <Output>() =>
  fromPromise<Output, RunContext>(() => Promise.reject(new Error('the service is bound by the runtime')));

/** A service that fails is repeated from the last commit, or it ends the run. */
const failed = (retried: string, final: string) =>
  [
    {
      guard: { type: 'canRetry', params: ({ event }: Failed) => ({ error: event.error }) },
      target: '#run.running.retrying',
      description: retried,
    },
    {
      target: '#run.concluding',
      actions: { type: 'fail', params: ({ event }: Failed) => ({ error: event.error }) },
      description: final,
    },
  ] as const;

const storeFailed = (final: string) =>
  failed('The store failed; the attempt is repeated from the last commit.', final);

const blocked = {
  guard: { type: 'isBlocked', params: ({ event }: Blocked) => event.output },
  target: '#run.concluding',
  actions: {
    type: 'end',
    params: ({ event }: Blocked) => ({
      ending: {
        type: 'blocked' as const,
        // The guard of this transition lets only 'blocked' through.
        value: (event.output as Extract<Acted, { kind: 'blocked' }>).reason,
      },
    }),
  },
  description: 'A gate forbids a call.',
} as const;

const cancel = { type: 'end', params: { ending: { type: 'cancelled' } } } as const;

/** Nothing executes that would have to conclude. */
const cancelled = (description: string) => ({ target: '#run.ending', actions: cancel, description }) as const;

const given = { params: ({ event }: Blocked) => event.output };

export const runMachine = setup({
  types: {} as { context: RunContext; events: RunMachineEvent; input: RunInput; tags: RunStatusTag },
  actors: {
    decide: service<Decided>(),
    infer: service<Inferred>(),
    act: service<Acted>(),
    checkpoint: service<Checkpointed>(),
    reschedule: service<void>(),
    reclaim: service<{ entry: RunEntry }>(),
    park: service<void>(),
    conclude: service<void>(),
    finish: service<void>(),
  },
  delays: {
    /** The runtime knows the settings; a machine on its own retries at once. */
    retryDelay: 0,
  },
  guards: {
    carriesDecisions: ({ context }) => context.entry === 'decisions',
    hasUnfinishedCalls: ({ context }) => context.entry === 'unfinished_calls',
    isStopped: (_, { kind }: Inferred) => kind === 'stopped',
    asksForTools: (_, { kind }: Inferred) => kind === 'calls',
    isTruncated: (_, { kind }: Inferred) => kind === 'truncated',
    hasPendingWork: (_, { kind }: Inferred) => kind === 'pending_work',
    asksForInput: (_, { kind }: Inferred) => kind === 'asks',
    isSuspended: (_, { kind }: Acted | Decided) => kind === 'suspended',
    isSuspendedNoMore: ({ context }, { kind }: Acted | Decided) =>
      kind === 'suspended' && (context.steered || context.decided),
    isBlocked: (_, { kind }: Acted | Decided) => kind === 'blocked',
    isSteered: ({ context }) => context.steered,
    isAwaited: ({ context }) => context.steered || context.decided,
    isOver: (_, { over }: Checkpointed) => over,
    isOverButWaits: (_, checkpointed: Checkpointed) => checkpointed.over && checkpointed.waits === true,
    isFinal: (_, { error }: { error: unknown }) => (error as Failure | null)?.final === true,
    canRetry: ({ context }, { error }: { error: unknown }) =>
      (error as Failure | null)?.transient === true && context.attempt + 1 < context.maxAttempts,
  },
  actions: {
    end: assign({ ending: (_, { ending }: { ending: RunEnding }) => ending }),
    fail: assign({
      ending: (_, { error }: { error: unknown }): RunEnding => ({ type: 'error', value: reasonOf(error) }),
    }),
    steer: assign({ steered: true }),
    resume: assign({ decided: true }),
    takeInput: assign({ steered: false }),
    takeDecisions: assign({ steered: false, decided: false }),
    /** What came while decisions were applied was applied with them. */
    settleDecisions: assign({ decided: false }),
    enter: assign({ entry: (_, { entry }: { entry: RunEntry }) => entry }),
    countAttempt: assign({ attempt: ({ context }) => context.attempt + 1 }),
    /** Tells the thread that nothing executes any more. */
    reportParked: () => {},
  },
}).createMachine({
  id: 'run',
  description: 'One execution of an agent on a thread, from accepted input to its terminal event.',
  context: ({ input }) => ({ ...input, ending: undefined, steered: false, decided: false }),
  initial: 'created',
  states: {
    created: {
      tags: ['created'],
      description: 'Accepted and durable; waits for its dispatch to be claimed.',
      on: {
        CLAIM: { target: 'running', description: 'A worker holds the dispatch.' },
        CANCEL: cancelled('Withdrawn before it started.'),
        SUPERSEDE: cancelled('An interrupt or a foreground run took its place.'),
        DEAD_LETTER: {
          target: 'ending',
          actions: {
            type: 'end',
            params: ({ event }) => ({ ending: { type: 'error', value: event.reason } }),
          },
          description: 'It can never start.',
        },
      },
    },
    running: {
      tags: ['running'],
      description: 'A worker executes it. Input steered into it is taken at the next step boundary.',
      initial: 'entering',
      on: {
        STEER: { actions: 'steer', description: 'New input for the next step.' },
        RESUME: { actions: 'resume', description: 'A call is decided while others still execute.' },
        CANCEL: {
          target: 'concluding',
          actions: cancel,
          description: 'Cancelled: model and tools are told to stop, partial text is dropped.',
        },
        DEAD_LETTER: {
          target: 'ending',
          actions: {
            type: 'end',
            params: ({ event }) => ({ ending: { type: 'error', value: event.reason } }),
          },
          description: 'Its workers keep dying, or its agent is gone.',
        },
        RELEASE: { target: 'released', description: 'The service stops, or the lease is lost.' },
      },
      states: {
        entering: {
          description: 'Goes to where the last commit left off.',
          always: [
            { guard: 'carriesDecisions', target: 'deciding', description: 'Decisions come first.' },
            {
              guard: 'hasUnfinishedCalls',
              target: 'acting',
              description: 'A crash left calls without result.',
            },
            { target: 'inferring', description: 'New input, or a step boundary.' },
          ],
        },
        deciding: {
          description: 'Applies decisions to suspended calls; new input supersedes the ones left open.',
          entry: 'takeDecisions',
          invoke: {
            src: 'decide',
            input: ({ context }) => context,
            onDone: [
              blocked,
              {
                guard: { type: 'isSuspendedNoMore', ...given },
                target: 'deciding',
                reenter: true,
                description: 'The next decision, or input, came meanwhile.',
              },
              {
                guard: { type: 'isSuspended', ...given },
                target: '#run.waiting',
                description: 'Other tickets are still open.',
              },
              {
                guard: 'isSteered',
                target: 'checkpointing',
                actions: 'settleDecisions',
                description: 'New input came meanwhile.',
              },
              { target: 'inferring', actions: 'settleDecisions', description: 'Every ticket is resolved.' },
            ],
            onError: storeFailed('The decisions cannot be applied.'),
          },
        },
        inferring: {
          description: 'One inference: the prompt goes out, deltas stream straight to the readers.',
          invoke: {
            src: 'infer',
            input: ({ context }) => context,
            onDone: [
              {
                guard: { type: 'isStopped', params: ({ event }) => event.output },
                target: '#run.concluding',
                actions: {
                  type: 'end',
                  params: ({ event }) => ({
                    // The guard of this transition lets only 'stopped' through.
                    ending: (event.output as Extract<Inferred, { kind: 'stopped' }>).ending,
                  }),
                },
                description: 'A stop condition holds, or a plugin ends the run.',
              },
              {
                guard: { type: 'asksForTools', params: ({ event }) => event.output },
                target: 'acting',
                description: 'The model asks for tools.',
              },
              {
                guard: { type: 'isTruncated', params: ({ event }) => event.output },
                target: 'checkpointing',
                description: 'The answer was cut off; it is continued in another step.',
              },
              { guard: 'isSteered', target: 'checkpointing', description: 'New input: one more step.' },
              {
                guard: { type: 'hasPendingWork', params: ({ event }) => event.output },
                target: '#run.waiting',
                description: 'Background tasks are still at work.',
              },
              {
                guard: { type: 'asksForInput', params: ({ event }) => event.output },
                target: '#run.waiting',
                description: 'The agent runs elsewhere, and asks for input or for authentication.',
              },
              {
                target: '#run.concluding',
                actions: { type: 'end', params: { ending: { type: 'natural_end' } } },
                description: 'The model answered without asking for tools.',
              },
            ],
            onError: failed(
              'Transient failure with attempts left.',
              'Permanent failure, or the attempts are used up.',
            ),
          },
        },
        acting: {
          description: 'Gates and executes the tool calls of the step.',
          invoke: {
            src: 'act',
            input: ({ context }) => context,
            onDone: [
              blocked,
              {
                guard: { type: 'isSuspendedNoMore', ...given },
                target: 'deciding',
                description: 'A call waits, and what it waits for is already here.',
              },
              {
                guard: { type: 'isSuspended', ...given },
                target: '#run.waiting',
                description: 'A call waits for a decision and none executes any more.',
              },
              { target: 'checkpointing', description: 'Every call has a result.' },
            ],
            onError: storeFailed('A phase or hook failed.'),
          },
        },
        checkpointing: {
          description: 'Step boundary: one commit, and input for this run joins the history.',
          entry: 'takeInput',
          invoke: {
            src: 'checkpoint',
            input: ({ context }) => context,
            onDone: [
              {
                guard: 'isSteered',
                target: 'checkpointing',
                reenter: true,
                description: 'More input came meanwhile.',
              },
              {
                guard: { type: 'isOverButWaits', params: ({ event }) => event.output },
                target: '#run.waiting',
                description: 'The model has answered; background tasks are still at work.',
              },
              {
                guard: { type: 'isOver', params: ({ event }) => event.output },
                target: '#run.concluding',
                actions: { type: 'end', params: { ending: { type: 'natural_end' } } },
                description: 'The model has answered, and what waits is not for this run.',
              },
              { target: 'inferring', description: 'The next step.' },
            ],
            onError: storeFailed('A phase or hook failed.'),
          },
        },
        retrying: {
          description: 'A transient failure is repeated from the last commit; open streams stay open.',
          initial: 'rescheduling',
          states: {
            rescheduling: {
              description: 'Drops the step and gives the dispatch back with a delay.',
              entry: 'countAttempt',
              invoke: {
                src: 'reschedule',
                input: ({ context }) => context,
                onDone: { target: 'pausing', description: 'Queued again.' },
                onError: {
                  target: '#run.released',
                  description: 'The store does not take it; the lease will expire.',
                },
              },
            },
            pausing: {
              description: 'Back-off.',
              after: { retryDelay: { target: 'reclaiming', description: 'The delay is over.' } },
            },
            reclaiming: {
              description: 'Claims the dispatch again.',
              invoke: {
                src: 'reclaim',
                input: ({ context }) => context,
                onDone: {
                  target: '#run.running.entering',
                  actions: { type: 'enter', params: ({ event }) => ({ entry: event.output.entry }) },
                  description: 'The next attempt, from the last commit.',
                },
                onError: { target: '#run.released', description: 'Somebody else has it.' },
              },
            },
          },
        },
      },
    },
    waiting: {
      tags: ['waiting'],
      description: 'Nothing executes. A decision, new input or a finished background task continues it.',
      initial: 'parking',
      on: {
        CANCEL: cancelled('Cancelled while waiting.'),
        RELEASE: { target: 'released', description: 'The service stops, or other work needs the thread.' },
      },
      states: {
        parking: {
          description: 'The commit that makes the wait durable.',
          on: {
            STEER: { actions: 'steer', description: 'Input that ends the wait as soon as it is durable.' },
            RESUME: { actions: 'resume', description: 'A decision that arrives during the hand-over.' },
          },
          invoke: {
            src: 'park',
            input: ({ context }) => context,
            onDone: [
              {
                guard: 'isAwaited',
                target: '#run.running.deciding',
                description: 'What it waits for came during the hand-over.',
              },
              { target: 'parked', description: 'Durable.' },
            ],
            onError: [
              {
                guard: { type: 'isFinal', params: ({ event }: Failed) => ({ error: event.error }) },
                target: '#run.ending',
                actions: { type: 'fail', params: ({ event }: Failed) => ({ error: event.error }) },
                description: 'A phase or hook failed.',
              },
              {
                target: '#run.released',
                description: 'The store does not take it; the lease will expire.',
              },
            ],
          },
        },
        parked: {
          description: 'Durable: survives a restart.',
          entry: 'reportParked',
          on: {
            RESUME: { target: '#run.running.deciding', description: 'A decision, new input or a wake-up.' },
          },
        },
      },
    },
    concluding: {
      tags: ['running'],
      description:
        'The run knows how it ends: the last step is completed, the hooks of the end run, mail leaves.',
      on: {
        CANCEL: cancelled('Cancelled, and nothing more is waited for.'),
        RELEASE: { target: 'released', description: 'The service stops, or the lease is lost.' },
      },
      invoke: {
        src: 'conclude',
        input: ({ context }) => context,
        onDone: { target: 'ending', description: 'Nothing is left to do but to say so.' },
        onError: [
          {
            guard: { type: 'isFinal', params: ({ event }: Failed) => ({ error: event.error }) },
            target: 'ending',
            actions: { type: 'fail', params: ({ event }: Failed) => ({ error: event.error }) },
            description: 'A phase or hook failed; that is how the run ends.',
          },
          { target: 'released', description: 'The store does not take it; the lease will expire.' },
        ],
      },
    },
    ending: {
      tags: ['done'],
      description:
        'The last commit: messages, record, terminal event and pointers together. Nothing changes it now.',
      invoke: {
        src: 'finish',
        input: ({ context }) => context,
        onDone: { target: 'ended', description: 'Durable; the terminal frame leaves.' },
        onError: { target: 'released', description: 'The store does not take it; the lease will expire.' },
      },
    },
    ended: { type: 'final', tags: ['done'], description: 'Done; its terminal event is in the log.' },
    released: {
      type: 'final',
      description:
        'Let go without an end. The record stays as its last commit left it; whoever claims it goes on.',
    },
  },
});

export type RunStatusTag = 'created' | 'running' | 'waiting' | 'done';
