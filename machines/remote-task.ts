import { assign, fromPromise, setup } from 'xstate';
import { isAtRest, isInterrupted, type TaskState } from './a2a-task.ts';

/**
 * A task that another service runs, as it is followed from here (a2a.md 12.5, 12.6). The states are those of the
 * follower; what the other side says of its task is a state of the machine `a2a-task`, which the services bring.
 *
 * Whoever asked may lose interest at any time, and one deadline, which the owner of the actor keeps, spans the
 * submission and everything after it. From then on one thing is left to do, to tell the other side to stop, which
 * happens at most once; the tag `unwanted` says that nobody has to wait for that.
 *
 * `host` is whatever the services need to do their work; the machine hands it on and never looks inside.
 */

/** What was said of the task. */
export type TaskSeen = { kind: 'task'; state: TaskState };

/** `message`: answered at once, without a task. */
export type Submitted = TaskSeen | { kind: 'message' };

/** A stream ends when the task is settled, or it breaks before; `unsupported`: this method is not served there. */
export type Streamed = TaskSeen | { kind: 'broken' } | { kind: 'unsupported' };

/** `unreachable`: no answer this time. */
export type Polled = TaskSeen | { kind: 'unreachable' };

export type StreamMethod = 'POST' | 'GET';

export type RemoteTaskInput = {
  host: object;
  /** The message continues a task that had asked for something. */
  continues: boolean;
  /** Between two polls: the first time, and at most. */
  firstPauseMs: number;
  longestPauseMs: number;
};

export type RemoteTaskContext = Omit<RemoteTaskInput, 'firstPauseMs'> & {
  /** As the other side told it last. */
  state: TaskState | undefined;
  method: StreamMethod;
  resubscribed: boolean;
  pauseMs: number;
  /** Why the task is not wanted any more. */
  givenUp: 'cancelled' | 'timed_out' | 'failed' | undefined;
  /** What ended it without an outcome. */
  error: unknown;
};

type RemoteTaskEvent =
  | { type: 'SUBMIT' }
  | { type: 'FOLLOW' }
  | { type: 'ABANDON' }
  | { type: 'LEAVE' }
  | { type: 'EXPIRE' };

const service = <Output>() =>
  fromPromise<Output, RemoteTaskContext>(() =>
    Promise.reject(new Error('the service is bound by the client')),
  );

type Found = Submitted | Streamed | Polled;
type Seen = { event: { output: Found } };
type Failed = { event: { error: unknown } };

/** What a service found, for the guards and actions that look at it. */
const found = { params: ({ event }: Seen) => event.output };

const failed = (description: string) =>
  ({
    target: '#remote-task.failed',
    actions: { type: 'fail', params: ({ event }: Failed) => ({ error: event.error }) },
    description,
  }) as const;

const settled = (description: string) =>
  ({
    guard: { type: 'isSettled', ...found },
    target: '#remote-task.settled',
    actions: { type: 'note', ...found },
    description,
  }) as const;

/** The same whether the other side took it or not: its answer changes nothing here. */
const told = [
  {
    guard: 'isExpired',
    target: '#remote-task.timedOut',
    description: 'Told to stop; it had taken too long.',
  },
  {
    guard: 'hasFailed',
    target: '#remote-task.failed',
    description: 'Told to stop; nobody could find it again.',
  },
  { target: '#remote-task.abandoned', description: 'Told to stop; nobody waits for it.' },
] as const;

/** There is no task to be told to stop, as far as anybody knows. */
const untold = [
  { guard: 'isExpired', target: '#remote-task.timedOut', description: 'Too late, and there is no task.' },
  { guard: 'isCancelled', target: '#remote-task.abandoned', description: 'Unwanted, and there is no task.' },
] as const;

const giveUp = (reason: 'cancelled' | 'timed_out') => ({ type: 'giveUp', params: { reason } }) as const;

export const remoteTaskMachine = setup({
  types: {} as {
    context: RemoteTaskContext;
    events: RemoteTaskEvent;
    input: RemoteTaskInput;
    tags: 'unwanted';
  },
  actors: {
    submit: service<Submitted>(),
    record: service<void>(),
    subscribe: service<Streamed>(),
    poll: service<Polled>(),
    cancel: service<void>(),
  },
  delays: {
    pollPause: ({ context }) => context.pauseMs,
    /** Long enough for the other side to begin. */
    secondLook: 250,
    /** How long an answer to the submission is waited for that only serves to stop the task. */
    patience: 10_000,
  },
  guards: {
    isAnswer: (_, { kind }: Found) => kind === 'message',
    isSettled: (_, seen: Found) => seen.kind === 'task' && isAtRest(seen.state),
    isDoubtful: ({ context }) =>
      context.continues && context.state !== undefined && isInterrupted(context.state),
    wasSettled: ({ context }) => context.state !== undefined && isAtRest(context.state),
    canUseGet: ({ context }, { kind }: Found) => kind === 'unsupported' && context.method === 'POST',
    canResubscribe: ({ context }, { kind }: Found) => kind === 'broken' && !context.resubscribed,
    isUnwantedTask: ({ context }, { kind }: Found) => kind === 'task' && context.givenUp !== undefined,
    isCancelled: ({ context }) => context.givenUp === 'cancelled',
    isExpired: ({ context }) => context.givenUp === 'timed_out',
    hasFailed: ({ context }) => context.givenUp === 'failed',
  },
  actions: {
    note: assign({
      state: ({ context }, seen: Found) => (seen.kind === 'task' ? seen.state : context.state),
    }),
    useGet: assign({ method: 'GET' }),
    countResubscription: assign({ resubscribed: true }),
    lengthenPause: assign({
      pauseMs: ({ context }) => Math.min(2 * context.pauseMs, context.longestPauseMs),
    }),
    giveUp: assign({ givenUp: (_, { reason }: { reason: 'cancelled' | 'timed_out' }) => reason }),
    fail: assign({ givenUp: 'failed', error: (_, { error }: { error: unknown }) => error }),
  },
}).createMachine({
  id: 'remote-task',
  description: 'A task that another service runs, from the message that makes it to what it came to.',
  context: ({ input: { firstPauseMs, ...input } }) => ({
    ...input,
    state: undefined,
    method: 'POST',
    resubscribed: false,
    pauseMs: firstPauseMs,
    givenUp: undefined,
    error: undefined,
  }),
  initial: 'idle',
  states: {
    idle: {
      description: 'Nothing was said or asked yet.',
      on: {
        SUBMIT: { target: 'open.submitting', description: 'There is something to say.' },
        FOLLOW: { target: 'open.following.streaming', description: 'It was submitted before.' },
      },
    },
    open: {
      description:
        'Somebody waits for what the task comes to, or for the submission that is still on its way.',
      initial: 'submitting',
      on: {
        LEAVE: { target: 'left', description: 'This service stops; another one will follow the task on.' },
      },
      states: {
        submitting: {
          description: 'The message is on its way. It is sent once: sent again, it could do its work twice.',
          initial: 'wanted',
          invoke: {
            src: 'submit',
            input: ({ context }) => context,
            onDone: [
              {
                guard: { type: 'isUnwantedTask', ...found },
                target: '#remote-task.cancelling',
                actions: { type: 'note', ...found },
                description: 'Accepted as a task when nobody waited any more.',
              },
              ...untold,
              {
                guard: { type: 'isAnswer', ...found },
                target: '#remote-task.answered',
                description: 'Answered at once.',
              },
              {
                target: 'following',
                actions: { type: 'note', ...found },
                description: 'Accepted as a task.',
              },
            ],
            onError: [...untold, failed('It was not accepted, or nobody can tell.')],
          },
          states: {
            wanted: {
              description: 'Its answer is waited for.',
              on: {
                ABANDON: {
                  target: 'unwanted',
                  actions: giveUp('cancelled'),
                  description: 'Nobody waits any more.',
                },
                EXPIRE: { target: 'unwanted', actions: giveUp('timed_out'), description: 'Too late.' },
              },
            },
            unwanted: {
              tags: ['unwanted'],
              description: 'Its answer only serves to stop the task that it may have made.',
              after: {
                patience: untold,
              },
            },
          },
        },
        following: {
          description: 'There is a task, and it is at work as far as is known.',
          initial: 'recording',
          on: {
            ABANDON: {
              target: '#remote-task.cancelling',
              actions: giveUp('cancelled'),
              description: 'Nobody waits any more.',
            },
            EXPIRE: {
              target: '#remote-task.cancelling',
              actions: giveUp('timed_out'),
              description: 'It takes too long.',
            },
          },
          states: {
            recording: {
              description: 'It is made known to whoever follows it on after a crash, before it is looked at.',
              invoke: {
                src: 'record',
                input: ({ context }) => context,
                onDone: [
                  {
                    guard: 'isDoubtful',
                    target: 'doubting',
                    description: 'It asks for something, or it did so when the message came.',
                  },
                  { guard: 'wasSettled', target: '#remote-task.settled', description: 'Settled at once.' },
                  { target: 'streaming', description: 'It is at work.' },
                ],
                onError: {
                  target: '#remote-task.cancelling',
                  actions: { type: 'fail', params: ({ event }: Failed) => ({ error: event.error }) },
                  description: 'Nobody would find it again.',
                },
              },
            },
            doubting: {
              description: 'Some services tell a task that goes on in the state from which it does.',
              after: {
                secondLook: { target: 'streaming', description: 'By now it has begun, or it asks again.' },
              },
            },
            streaming: {
              description: 'It tells what happens, as it happens.',
              invoke: {
                src: 'subscribe',
                input: ({ context }) => context,
                onDone: [
                  settled('Terminal, or it asks for something.'),
                  {
                    guard: { type: 'canUseGet', ...found },
                    target: 'streaming',
                    reenter: true,
                    actions: 'useGet',
                    description: 'POST is not served there; GET may be.',
                  },
                  {
                    guard: { type: 'canResubscribe', ...found },
                    target: 'streaming',
                    reenter: true,
                    actions: 'countResubscription',
                    description: 'The stream broke; it is opened once more.',
                  },
                  { target: 'polling', description: 'There is no stream, or none that lasts.' },
                ],
                onError: failed('What came cannot be understood.'),
              },
            },
            polling: {
              description: 'It is asked, less and less often.',
              initial: 'asking',
              states: {
                asking: {
                  description: 'One request.',
                  invoke: {
                    src: 'poll',
                    input: ({ context }) => context,
                    onDone: [
                      settled('Terminal, or it asks for something.'),
                      {
                        target: 'pausing',
                        actions: { type: 'note', ...found },
                        description: 'Still at work, or no answer this time.',
                      },
                    ],
                    onError: failed('It is not there, not for us, or not to be understood.'),
                  },
                },
                pausing: {
                  description: 'Back-off.',
                  after: {
                    pollPause: {
                      target: 'asking',
                      actions: 'lengthenPause',
                      description: 'The pause is over.',
                    },
                  },
                },
              },
            },
          },
        },
      },
    },
    cancelling: {
      tags: ['unwanted'],
      description: 'The other side is told to stop, once; what it answers changes nothing.',
      invoke: { src: 'cancel', input: ({ context }) => context, onDone: told, onError: told },
    },
    answered: { type: 'final', description: 'A message answered at once; there is no task.' },
    settled: { type: 'final', description: 'The task is terminal, or asks for something.' },
    abandoned: { type: 'final', description: 'Nobody waited for it any more.' },
    timedOut: { type: 'final', description: 'It took too long.' },
    failed: { type: 'final', description: 'What it came to cannot be known.' },
    left: { type: 'final', description: 'At work as far as is known; whoever follows it on goes on.' },
  },
});
