import { assign, fromPromise, setup } from 'xstate';
import { isInterrupted, isTerminalOrInterrupted } from './a2a-task.ts';
import { following } from './remote-task-following.ts';
import { type Found, failed, found, giveUp, invoked } from './remote-task-transitions.ts';
import type {
  Polled,
  RemoteTaskContext,
  RemoteTaskEvent,
  RemoteTaskInput,
  Streamed,
  Submitted,
} from './remote-task-types.ts';

/**
 * The follower of a task that another service runs (a2a.md 12.5, 12.6). The states are those of the follower; services
 * return the reported state of the remote task, which is a state of the machine `a2a-task`.
 *
 * The caller may abandon the task at any time, and one deadline, kept by the owner of the actor, spans the submission
 * and everything after it. Once the task is abandoned or expired, the only remaining work is one cancel request to the
 * remote service; the tag `unwanted` marks these states, for which no caller has to wait.
 *
 * The machine never reads `host`; it only passes it on to the services.
 */

const service = <Output>() =>
  fromPromise<Output, RemoteTaskContext>(() =>
    Promise.reject(new Error('the service is bound by the client')),
  );

/** Both results of the cancel request lead here: neither changes the outcome. */
const afterCancel = [
  {
    guard: 'isExpired',
    target: '#remote-task.timedOut',
    description: 'Cancelled because it exceeded its timeout.',
  },
  {
    guard: 'hasFailed',
    target: '#remote-task.failed',
    description: 'Cancelled because its id could not be stored.',
  },
  { target: '#remote-task.abandoned', description: 'Cancelled because no caller waits for it.' },
] as const;

/** No task is known that could be cancelled. */
const withoutTask = [
  {
    guard: 'isExpired',
    target: '#remote-task.timedOut',
    description: 'The timeout elapsed and no task exists.',
  },
  {
    guard: 'isCancelled',
    target: '#remote-task.abandoned',
    description: 'Cancelled by the caller and no task exists.',
  },
] as const;

/**
 * Follows a task that another service runs (a2a.md 12.5, 12.6), from its submission until it ends or its caller
 * abandons it.
 *
 * @example
 * ```ts
 * for (const { key, description } of Object.values(remoteTaskMachine.states)) console.log(`${key}: ${description}`);
 * ```
 */
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
    /** Long enough for the remote service to start. */
    secondLook: 250,
    /** How long an unwanted submission waits for a response that only serves to cancel the task. */
    patience: 10_000,
  },
  guards: {
    isAnswer: (_, { kind }: Found) => kind === 'message',
    isSettled: (_, seen: Found) => seen.kind === 'task' && isTerminalOrInterrupted(seen.state),
    isDoubtful: ({ context }) =>
      context.continues && context.state !== undefined && isInterrupted(context.state),
    wasSettled: ({ context }) => context.state !== undefined && isTerminalOrInterrupted(context.state),
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
  description: 'A task on another service, from the message that creates it to its outcome.',
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
      description: 'Decides whether to submit a message or to follow a submitted task.',
      on: {
        SUBMIT: { target: 'open.submitting', description: 'A message has to be submitted.' },
        FOLLOW: { target: 'open.following.streaming', description: 'The task was submitted earlier.' },
      },
    },
    open: {
      description: 'A caller waits for the outcome, or a submission is in flight.',
      initial: 'submitting',
      on: {
        LEAVE: {
          target: 'left',
          description: 'The service stops; the next process continues to follow the task.',
        },
      },
      states: {
        submitting: {
          description:
            'The message is in flight. It is sent once, because a second message could start the work twice.',
          initial: 'wanted',
          invoke: {
            ...invoked('submit'),
            onDone: [
              {
                guard: { type: 'isUnwantedTask', ...found },
                target: '#remote-task.cancelling',
                actions: { type: 'note', ...found },
                description: 'Accepted as a task after the caller cancelled.',
              },
              ...withoutTask,
              {
                guard: { type: 'isAnswer', ...found },
                target: '#remote-task.answered',
                description: 'The response is immediate.',
              },
              {
                target: 'following',
                actions: { type: 'note', ...found },
                description: 'Accepted as a task.',
              },
            ],
            onError: [...withoutTask, failed('The message was rejected, or its outcome is unknown.')],
          },
          states: {
            wanted: {
              description: 'Waiting for the response.',
              on: {
                ABANDON: {
                  target: 'unwanted',
                  actions: giveUp('cancelled'),
                  description: 'The caller cancelled.',
                },
                EXPIRE: {
                  target: 'unwanted',
                  actions: giveUp('timed_out'),
                  description: 'The timeout elapsed.',
                },
              },
            },
            unwanted: {
              tags: ['unwanted'],
              description: 'The response is only used to cancel the task that it may name.',
              after: {
                patience: withoutTask,
              },
            },
          },
        },
        following,
      },
    },
    cancelling: {
      tags: ['unwanted'],
      description: 'One cancel request is sent; its response is ignored.',
      invoke: { ...invoked('cancel'), onDone: afterCancel, onError: afterCancel },
    },
    answered: { type: 'final', description: 'The response was immediate; no task exists.' },
    settled: { type: 'final', description: 'The task is terminal or requires input.' },
    abandoned: { type: 'final', description: 'The caller cancelled.' },
    timedOut: { type: 'final', description: 'The timeout elapsed.' },
    failed: { type: 'final', description: 'The outcome is unknown.' },
    left: { type: 'final', description: 'Working as far as known; the next process continues to follow it.' },
  },
});
