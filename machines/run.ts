import { assign, fromPromise, setup } from 'xstate';
import type { TaskState } from './a2a-task.ts';

/**
 * One execution of an agent on a thread. Each state that works invokes one service; the service returns what it
 * found, and the transition says what comes next. What the wire says of a run is tags of the state: its status, why
 * it waits, and what it is as a task. A state whose service writes the record carries the tags of what it writes.
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

/** What a run can wait for; each is a state of its own below `waiting`. */
export type WaitsFor = 'forDecision' | 'forInput' | 'forAuthentication' | 'forTasks';

/** What somebody has to do before the run goes on. */
type Asked = { waits: Exclude<WaitsFor, 'forTasks'> };

/** What an inference led to. */
export type Inferred =
  | { kind: 'answer' }
  | { kind: 'calls' }
  | { kind: 'truncated' }
  | { kind: 'pending_work' }
  | ({ kind: 'asks' } & Asked)
  | { kind: 'stopped'; ending: RunEnding };

type Suspended = { kind: 'suspended' } & Asked;
type Blocked = { kind: 'blocked'; reason: string };

/** What the tool calls of a step led to. `answered`: the model gave its result with them, and all of them succeeded. */
export type Acted = { kind: 'executed' } | { kind: 'answered' } | Suspended | Blocked;

/** What the check of a structured result led to. `repair`: the model reads what is wrong, and answers again. */
export type Validated = { kind: 'fits' } | { kind: 'repair' } | { kind: 'exhausted'; ending: RunEnding };

/** What the decisions and the input that ended a wait led to. */
export type Decided = { kind: 'resolved' } | Suspended | Blocked;

/**
 * `over`: the model had answered, and there was no input for another step; `waits`: nor is there an end, since
 * background tasks are still at work; `unchecked`: the answer is to be a structured result, and was not checked.
 */
export type Checkpointed = { over: false } | { over: true; waits?: boolean; unchecked?: boolean };

/** The status of a run on the wire (runtime.md 2.5). */
export type RunStatusTag = 'created' | 'running' | 'waiting' | 'done';

/** Why it waits, on the wire (runtime.md 2.6). */
export type WaitReasonTag = 'tool_permission' | 'user_input' | 'background_tasks';

export type RunTag = RunStatusTag | WaitReasonTag | TaskState;

/** Where an execution begins: with an inference, in the middle of a step after a crash, or with decisions. */
export type RunEntry = 'inference' | 'unfinished_calls' | 'decisions';

export type RunInput = {
  host: object;
  entry: RunEntry;
  attempt: number;
  maxAttempts: number;
  /** For how many milliseconds in total calls that were held back are repeated without an attempt. */
  maxHeldBackMs: number;
};

export type RunContext = RunInput & {
  ending: RunEnding | undefined;
  /** Input was handed to this run and waits for the next step boundary. */
  steered: boolean;
  /** A decision was handed to this run and waits until no call executes any more. */
  decided: boolean;
  /** The last failure counts as an attempt. */
  counted: boolean;
  /** The wait that the last failure asks for, in milliseconds; 0 where it asks for none. */
  pauseMs: number;
  /** The sum of the waits without an attempt. */
  heldBackMs: number;
};

/** What every execution begins with, in addition to its input. */
export const BEGINNING = {
  ending: undefined,
  steered: false,
  decided: false,
  counted: true,
  pauseMs: 0,
  heldBackMs: 0,
} as const satisfies Omit<RunContext, keyof RunInput>;

export type RunMachineEvent =
  | { type: 'CLAIM' }
  | { type: 'CANCEL' }
  | { type: 'SUPERSEDE' }
  | { type: 'DEAD_LETTER'; reason: string }
  | { type: 'STEER' }
  | { type: 'RESUME' }
  | { type: 'ANSWER' }
  | { type: 'RELEASE' };

/** `retryAfterMs`: how long to wait at least. `heldBack`: nothing was tried, so there is no attempt to count. */
type Failure = { transient?: boolean; final?: boolean; retryAfterMs?: number; heldBack?: boolean };
type Failed = { event: { error: unknown } };
type Found = { event: { output: Inferred | Acted | Decided | Validated } };

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const pauseOf = (error: unknown): number => (error as Failure | null)?.retryAfterMs ?? 0;

const unbound = () => Promise.reject(new Error('the service is bound by the runtime'));

/** Services get the whole context: the host to work with, and how the run is to end. */
const service = <Output>() => fromPromise<Output, RunContext>(unbound);

/** The one that writes a wait is told which. */
export type Parking = { host: object; waits: WaitsFor };

type Reclaimed = { event: { output: { entry: RunEntry } } };

/** A worker holds the dispatch: the execution begins where the last commit left off. */
const begins = <Args>(params: (args: Args) => { entry: RunEntry }) =>
  [
    {
      guard: { type: 'carriesDecisions', params },
      target: '#run.running.deciding',
      description: 'Decisions come first.',
    },
    {
      guard: { type: 'hasUnfinishedCalls', params },
      target: '#run.running.acting',
      description: 'A crash left calls without result.',
    },
    { target: '#run.running.inferring', description: 'New input, or a step boundary.' },
  ] as const;

/** A service that fails is repeated from the last commit, or it ends the run. */
const failed = (retried: string, final: string) =>
  [
    {
      guard: { type: 'canRetry', params: ({ event }: Failed) => ({ error: event.error }) },
      target: '#run.running.retrying',
      actions: { type: 'countAttempt', params: ({ event }: Failed) => ({ error: event.error }) },
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

/** Nothing executes that could be repeated: a phase that failed ends the run, a store that failed lets go of it. */
const notWritten = (final: string) =>
  [
    {
      guard: { type: 'isFinal', params: ({ event }: Failed) => ({ error: event.error }) },
      target: '#run.ending',
      actions: { type: 'fail', params: ({ event }: Failed) => ({ error: event.error }) },
      description: final,
    },
    { target: '#run.released', description: 'The store does not take it; the lease will expire.' },
  ] as const;

const found = { params: ({ event }: Found) => event.output };

const blocked = {
  guard: { type: 'isBlocked', ...found },
  target: '#run.concluding',
  actions: {
    type: 'end',
    params: ({ event }: Found) => ({
      // The guard of this transition lets only 'blocked' through.
      ending: { type: 'blocked' as const, value: (event.output as Blocked).reason },
    }),
  },
  description: 'A gate forbids a call.',
} as const;

/** Nothing executes, and somebody has to do something. */
const asked = (whose: string) =>
  [
    {
      guard: { type: 'needsDecision', ...found },
      target: '#run.waiting.forDecision',
      description: `${whose} waits for a decision.`,
    },
    {
      guard: { type: 'needsAuthentication', ...found },
      target: '#run.waiting.forAuthentication',
      description: `${whose} waits for somebody to log in.`,
    },
    {
      guard: { type: 'needsInput', ...found },
      target: '#run.waiting.forInput',
      description: `${whose} waits for input.`,
    },
  ] as const;

/** A wait begins with the commit that makes it durable. `tags`: the reason on the wire, and the state as a task. */
const wait = <const Tags extends readonly RunTag[], const Answered extends object>(
  kind: WaitsFor,
  { tags, description, answered }: { tags: Tags; description: string; answered: Answered },
) =>
  ({
    tags,
    description,
    initial: 'parking',
    states: {
      parking: {
        description: 'The commit that makes the wait durable.',
        on: {
          STEER: { actions: 'steer', description: 'Input that ends the wait as soon as it is durable.' },
          RESUME: { actions: 'resume', description: 'A decision that arrives during the hand-over.' },
        },
        invoke: {
          src: 'park',
          input: ({ context }: { context: RunContext }): Parking => ({ host: context.host, waits: kind }),
          onDone: [
            {
              guard: 'isAwaited',
              target: '#run.running.deciding',
              description: 'What it waits for came during the hand-over.',
            },
            { target: 'parked', description: 'Durable.' },
          ],
          onError: notWritten('A phase or hook failed.'),
        },
      },
      parked: {
        description: 'Durable: survives a restart.',
        entry: 'reportParked',
        on: {
          RESUME: { target: '#run.running.deciding', description: 'What it waits for is here.' },
          ANSWER: answered,
        },
      },
    },
  }) as const;

/** The answer is durable, and other work comes first. */
const answered = { target: '#run.waiting.answered', description: 'It goes on when it is its turn.' } as const;

const cancel = { type: 'end', params: { ending: { type: 'cancelled' } } } as const;

const naturally = { type: 'end', params: { ending: { type: 'natural_end' } } } as const;

/** Nothing executes that would have to conclude. */
const cancelled = (description: string) => ({ target: '#run.ending', actions: cancel, description }) as const;

export const runMachine = setup({
  types: {} as { context: RunContext; events: RunMachineEvent; input: RunInput; tags: RunTag },
  actors: {
    decide: service<Decided>(),
    infer: service<Inferred>(),
    act: service<Acted>(),
    validate: service<Validated>(),
    checkpoint: service<Checkpointed>(),
    reschedule: service<void>(),
    reclaim: service<{ entry: RunEntry }>(),
    park: fromPromise<void, Parking>(unbound),
    conclude: service<void>(),
    finish: service<void>(),
  },
  delays: {
    /** The runtime knows the settings; a machine on its own retries at once. */
    retryDelay: 0,
  },
  guards: {
    carriesDecisions: (_, { entry }: { entry: RunEntry }) => entry === 'decisions',
    hasUnfinishedCalls: (_, { entry }: { entry: RunEntry }) => entry === 'unfinished_calls',
    isStopped: (_, { kind }: Inferred) => kind === 'stopped',
    asksForTools: (_, { kind }: Inferred) => kind === 'calls',
    isTruncated: (_, { kind }: Inferred) => kind === 'truncated',
    hasPendingWork: (_, { kind }: Inferred) => kind === 'pending_work',
    hasAnswered: (_, { kind }: Inferred | Acted | Decided | Validated) => kind === 'answered',
    mustRepair: (_, { kind }: Inferred | Acted | Decided | Validated) => kind === 'repair',
    isExhausted: (_, { kind }: Inferred | Acted | Decided | Validated) => kind === 'exhausted',
    needsDecision: (_, found: Inferred | Acted | Decided | Validated) =>
      'waits' in found && found.waits === 'forDecision',
    needsAuthentication: (_, found: Inferred | Acted | Decided | Validated) =>
      'waits' in found && found.waits === 'forAuthentication',
    needsInput: (_, found: Inferred | Acted | Decided | Validated) =>
      'waits' in found && found.waits === 'forInput',
    isSuspendedNoMore: ({ context }, { kind }: Inferred | Acted | Decided | Validated) =>
      kind === 'suspended' && (context.steered || context.decided),
    isBlocked: (_, { kind }: Inferred | Acted | Decided | Validated) => kind === 'blocked',
    isCancelled: ({ context }) => context.ending?.type === 'cancelled',
    isForbidden: ({ context }) => context.ending?.type === 'blocked',
    hasFailed: ({ context }) => context.ending?.type === 'error',
    isSteered: ({ context }) => context.steered,
    isAwaited: ({ context }) => context.steered || context.decided,
    isUnchecked: (_, checkpointed: Checkpointed) => checkpointed.over && checkpointed.unchecked === true,
    isOver: (_, { over }: Checkpointed) => over,
    isOverButWaits: (_, checkpointed: Checkpointed) => checkpointed.over && checkpointed.waits === true,
    /** Whether the run has a schema for its result. The runtime binds it; a machine without a host has none. */
    mustValidate: () => false,
    /** Is something to be done between the answer and the last commit? The runtime knows. */
    mustConclude: () => true,
    isFinal: (_, { error }: { error: unknown }) => (error as Failure | null)?.final === true,
    isHeldBack: ({ context }, { error }: { error: unknown }) =>
      (error as Failure | null)?.heldBack === true && context.heldBackMs < context.maxHeldBackMs,
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
    countAttempt: assign(({ context }, { error }: { error: unknown }) => ({
      attempt: context.attempt + 1,
      counted: true,
      pauseMs: pauseOf(error),
    })),
    holdBack: assign(({ context }, { error }: { error: unknown }) => ({
      counted: false,
      pauseMs: pauseOf(error),
      heldBackMs: context.heldBackMs + pauseOf(error),
    })),
    /** Tells the thread that nothing executes any more. */
    reportParked: () => {},
  },
}).createMachine({
  id: 'run',
  description: 'One execution of an agent on a thread, from accepted input to its terminal event.',
  context: ({ input }) => ({ ...BEGINNING, ...input }),
  initial: 'created',
  states: {
    created: {
      tags: ['created', 'TASK_STATE_SUBMITTED'],
      description: 'Accepted and durable; waits for its dispatch to be claimed.',
      on: {
        CLAIM: begins(({ context }: { context: RunContext }) => ({ entry: context.entry })),
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
      tags: ['running', 'TASK_STATE_WORKING'],
      description: 'A worker executes it. Input steered into it is taken at the next step boundary.',
      initial: 'inferring',
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
        deciding: {
          description: 'Applies decisions to suspended calls; new input supersedes the ones left open.',
          entry: 'takeDecisions',
          invoke: {
            src: 'decide',
            input: ({ context }) => context,
            onDone: [
              blocked,
              {
                guard: { type: 'isSuspendedNoMore', ...found },
                target: 'deciding',
                reenter: true,
                description: 'The next decision, or input, came meanwhile.',
              },
              ...asked('Another call'),
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
                target: '#run.waiting.forTasks',
                description: 'Background tasks are still at work.',
              },
              ...asked('The agent, which runs elsewhere,'),
              {
                guard: 'mustValidate',
                target: 'validating',
                description: 'The model answered, and the run must end with a structured result.',
              },
              {
                guard: 'mustConclude',
                target: '#run.concluding',
                actions: naturally,
                description: 'The model answered without asking for tools.',
              },
              {
                target: '#run.ending',
                actions: naturally,
                description: 'The model answered, and nothing has to be done before the run says so.',
              },
            ],
            onError: [
              {
                guard: { type: 'isHeldBack', params: ({ event }: Failed) => ({ error: event.error }) },
                target: 'retrying',
                actions: { type: 'holdBack', params: ({ event }: Failed) => ({ error: event.error }) },
                description: 'The circuit of the model is open; the run waits, and no attempt is counted.',
              },
              ...failed(
                'Transient failure with attempts left.',
                'Permanent failure, or the attempts are used up.',
              ),
            ],
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
                guard: { type: 'isSuspendedNoMore', ...found },
                target: 'deciding',
                description: 'A call waits, and what it waits for is already here.',
              },
              ...asked('A call'),
              {
                guard: { type: 'hasAnswered', ...found },
                target: 'validating',
                description: 'Every call has succeeded, and the model gave its result with them.',
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
                target: '#run.waiting.forTasks',
                description: 'The model has answered; background tasks are still at work.',
              },
              {
                guard: { type: 'isUnchecked', params: ({ event }) => event.output },
                target: 'validating',
                description: 'The input that was expected is gone, and the answer has not been checked.',
              },
              {
                guard: { type: 'isOver', params: ({ event }) => event.output },
                target: '#run.concluding',
                actions: naturally,
                description: 'The model has answered, and what waits is not for this run.',
              },
              { target: 'inferring', description: 'The next step.' },
            ],
            onError: storeFailed('A phase or hook failed.'),
          },
        },
        validating: {
          description:
            'Checks the answer against the schema of the run. Runs without a schema never enter it.',
          invoke: {
            src: 'validate',
            input: ({ context }) => context,
            onDone: [
              { guard: 'isSteered', target: 'checkpointing', description: 'New input: one more step.' },
              {
                guard: { type: 'mustRepair', ...found },
                target: 'checkpointing',
                description: 'The answer does not fit; the model reads why, and answers again.',
              },
              {
                guard: { type: 'isExhausted', ...found },
                target: '#run.concluding',
                actions: {
                  type: 'end',
                  params: ({ event }) => ({
                    // The guard of this transition lets only 'exhausted' through.
                    ending: (event.output as Extract<Validated, { kind: 'exhausted' }>).ending,
                  }),
                },
                description: 'The answer does not fit, and no repair is left.',
              },
              { target: '#run.concluding', actions: naturally, description: 'The answer fits.' },
            ],
            onError: storeFailed('The schema cannot be used.'),
          },
        },
        retrying: {
          description: 'A transient failure is repeated from the last commit; open streams stay open.',
          initial: 'rescheduling',
          states: {
            rescheduling: {
              description: 'Drops the step and gives the dispatch back with a delay.',
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
                onDone: begins(({ event }: Reclaimed) => event.output),
                onError: { target: '#run.released', description: 'Somebody else has it.' },
              },
            },
          },
        },
      },
    },
    waiting: {
      tags: ['waiting'],
      description: 'Nothing executes. What it waits for is its state.',
      initial: 'forDecision',
      on: {
        CANCEL: cancelled('Cancelled while waiting.'),
        RELEASE: { target: 'released', description: 'The service stops, or other work needs the thread.' },
      },
      states: {
        forDecision: wait('forDecision', {
          tags: ['tool_permission', 'TASK_STATE_AUTH_REQUIRED'],
          description: 'Somebody has to allow a call, or to decide it.',
          answered,
        }),
        forInput: wait('forInput', {
          tags: ['user_input', 'TASK_STATE_INPUT_REQUIRED'],
          description: 'Somebody has to say something: an answer, or the result of a client’s tool.',
          answered,
        }),
        forAuthentication: wait('forAuthentication', {
          tags: ['tool_permission', 'TASK_STATE_AUTH_REQUIRED'],
          description: 'Somebody has to log in where a delegate or the agent itself runs.',
          answered,
        }),
        forTasks: wait('forTasks', {
          tags: ['background_tasks', 'TASK_STATE_WORKING'],
          description: 'Its own background tasks are at work; nobody has to do anything.',
          answered: { target: 'parked', description: 'News or input; it goes on when it is its turn.' },
        }),
        answered: {
          tags: ['TASK_STATE_SUBMITTED'],
          description: 'What it waited for is here and durable; it goes on when it is its turn.',
          on: {
            ANSWER: { target: 'answered', description: 'More of it.' },
            RESUME: { target: '#run.running.deciding', description: 'It is its turn.' },
          },
        },
      },
    },
    concluding: {
      tags: ['running', 'TASK_STATE_WORKING'],
      description:
        'The run knows how it ends: the last step is completed, the hooks of the end run, mail leaves.',
      on: {
        CANCEL: cancelled('Cancelled, and nothing more is waited for.'),
        RELEASE: [
          {
            guard: 'isCancelled',
            target: 'ending',
            description: 'A cancelled run is not resumed: its end is written before the process lets it go.',
          },
          { target: 'released', description: 'The service stops, or the lease is lost.' },
        ],
      },
      invoke: {
        src: 'conclude',
        input: ({ context }) => context,
        onDone: { target: 'ending', description: 'Nothing is left to do but to say so.' },
        onError: notWritten('A phase or hook failed; that is how the run ends.'),
      },
    },
    ending: {
      tags: ['done'],
      description:
        'The last commit: messages, record, terminal event and pointers together. Nothing changes it now.',
      invoke: {
        src: 'finish',
        input: ({ context }) => context,
        onDone: [
          { guard: 'isCancelled', target: 'cancelled', description: 'Durable; the terminal frame leaves.' },
          { guard: 'isForbidden', target: 'blocked', description: 'Durable; the terminal frame leaves.' },
          { guard: 'hasFailed', target: 'failed', description: 'Durable; the terminal frame leaves.' },
          { target: 'completed', description: 'Durable; the terminal frame leaves.' },
        ],
        onError: { target: 'released', description: 'The store does not take it; the lease will expire.' },
      },
    },
    completed: {
      type: 'final',
      tags: ['done', 'TASK_STATE_COMPLETED'],
      description: 'It came to an end of its own, or to one of its limits.',
    },
    cancelled: { type: 'final', tags: ['done', 'TASK_STATE_CANCELED'], description: 'Somebody stopped it.' },
    blocked: { type: 'final', tags: ['done', 'TASK_STATE_REJECTED'], description: 'A gate forbade it.' },
    failed: { type: 'final', tags: ['done', 'TASK_STATE_FAILED'], description: 'It ended with an error.' },
    released: {
      type: 'final',
      description:
        'Let go without an end. The record stays as its last commit left it; whoever claims it goes on.',
    },
  },
});
