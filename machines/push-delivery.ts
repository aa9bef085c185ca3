import { assign, fromPromise, setup } from 'xstate';

/**
 * Sends what changes of one task to one place that asked for it (a2a.md 11.2, 11.3), as long as there is something
 * to send.
 *
 * Two things go on at a time. One follows the task: what changes is put into a durable queue, and what was missed,
 * because the process or the store was gone, is made up by comparing the task with what was queued last. The other
 * sends the queue in its order, one event at a time: an event that fails is repeated after a growing delay and holds
 * back those behind it, until its attempts are used up. How an attempt ended is written down before anything else
 * happens, so that a restart goes on where it was.
 *
 * `host` is whatever the services need to do their work; the machine hands it on and never looks inside.
 */

export type PushInput = {
  host: object;
  /** Of the first event in the queue, so far. */
  attempts: number;
  maxAttempts: number;
};

/** What is to be written down about the first event in the queue. */
export type PushVerdict = 'delivered' | 'failed' | 'given_up';

export type PushContext = PushInput & {
  /** The queue may have something that nobody has looked at. */
  queued: boolean;
  /** The last status of the task is in the queue. */
  ended: boolean;
  verdict: PushVerdict;
  /** Why the last attempt failed. */
  error: unknown;
};

/** `ended`: the task is over. `gone`: there is no such task or config any more. */
export type PushFollowing = 'watching' | 'ended' | 'gone';

/** `empty`: there was nothing in the queue. */
export type PushSent = 'sent' | 'empty';

export type PushDeliveryEvent =
  /** `last`: the task is over, and nothing follows. */
  { type: 'QUEUED'; last: boolean } | { type: 'MISSED' } | { type: 'REMOVED' };

const service = <Output>() =>
  fromPromise<Output, PushContext>(() => Promise.reject(new Error('the service is bound by its owner')));

const found = { params: ({ event }: { event: { output: PushFollowing } }) => event.output };
const sent = { params: ({ event }: { event: { output: PushSent } }) => event.output };
const because = { params: ({ event }: { event: { error: unknown } }) => event };

export const pushDeliveryMachine = setup({
  types: {} as { context: PushContext; events: PushDeliveryEvent; input: PushInput },
  actors: {
    /** Begins to follow the task, and queues what was missed. */
    follow: service<PushFollowing>(),
    /** Sends the first event in the queue. */
    send: service<PushSent>(),
    /** Writes down what became of it. */
    record: service<void>(),
    /** Gives a store that failed some time. */
    rest: service<void>(),
  },
  delays: {
    /** The owner knows the times; a machine on its own tries again at once. */
    retryDelay: 0,
  },
  guards: {
    isGone: (_, following: PushFollowing) => following === 'gone',
    isOver: (_, following: PushFollowing) => following === 'ended',
    isLast: ({ event }) => event.type === 'QUEUED' && event.last,
    isEmpty: (_, looked: PushSent) => looked === 'empty',
    hasQueued: ({ context }) => context.queued,
    hasFailed: ({ context }) => context.attempts > 0,
    hasEnded: ({ context }) => context.ended,
    attemptsLeft: ({ context }) => context.attempts + 1 < context.maxAttempts,
  },
  actions: {
    noteQueued: assign({ queued: true }),
    noteEnd: assign({ queued: true, ended: true }),
    look: assign({ queued: false }),
    noteDelivery: assign({ verdict: 'delivered', error: undefined }),
    noteFailure: assign({ verdict: 'failed', error: (_, { error }: { error: unknown }) => error }),
    giveUp: assign({ verdict: 'given_up', error: (_, { error }: { error: unknown }) => error }),
    settle: assign({
      queued: true,
      attempts: ({ context }) => (context.verdict === 'failed' ? context.attempts + 1 : 0),
    }),
  },
}).createMachine({
  id: 'push-delivery',
  description: 'Sends what changes of a task to one place, in order, each event at least once or given up.',
  context: ({ input }) => ({
    ...input,
    queued: true,
    ended: false,
    verdict: 'delivered',
    error: undefined,
  }),
  initial: 'active',
  states: {
    active: {
      type: 'parallel',
      description: 'There is a config, and something may have to be sent.',
      on: {
        REMOVED: { target: 'removed', description: 'Nobody wants to be told any more, nor again.' },
      },
      onDone: { target: 'done', description: 'The task is over, and everything of it was sent or given up.' },
      states: {
        following: {
          description: 'What is put into the queue.',
          initial: 'catchingUp',
          states: {
            catchingUp: {
              description: 'Compares the task with what was queued last, and queues the difference.',
              invoke: {
                src: 'follow',
                input: ({ context }) => context,
                onDone: [
                  {
                    guard: { type: 'isGone', ...found },
                    target: '#push-delivery.orphaned',
                    description: 'There is no such task or config any more.',
                  },
                  {
                    guard: { type: 'isOver', ...found },
                    target: 'ended',
                    actions: 'noteEnd',
                    description: 'The task is over already; its status is queued.',
                  },
                  {
                    target: 'watching',
                    actions: 'noteQueued',
                    description: 'What was missed is queued.',
                  },
                ],
                onError: { target: 'pausing', description: 'The store failed.' },
              },
              on: {
                QUEUED: { actions: 'noteQueued', description: 'Something changed meanwhile.' },
                MISSED: { target: 'pausing', description: 'Something changed, and could not be queued.' },
              },
            },
            watching: {
              description: 'The task tells of itself.',
              on: {
                QUEUED: [
                  {
                    guard: 'isLast',
                    target: 'ended',
                    actions: 'noteEnd',
                    description: 'The last status of the task is in the queue.',
                  },
                  { actions: 'noteQueued', description: 'Something changed, and is in the queue.' },
                ],
                MISSED: { target: 'pausing', description: 'Something changed, and could not be queued.' },
              },
            },
            pausing: {
              description: 'Gives the store time.',
              on: {
                QUEUED: { actions: 'noteQueued', description: 'Queued before the store failed.' },
              },
              invoke: {
                src: 'rest',
                input: ({ context }) => context,
                onDone: { target: 'catchingUp', description: 'Makes up for what was missed.' },
              },
            },
            ended: { type: 'final', description: 'Nothing more will be queued.' },
          },
        },
        sending: {
          description: 'What is taken out of the queue.',
          initial: 'idle',
          states: {
            idle: {
              description: 'Nothing is known to be in the queue.',
              always: [
                {
                  guard: 'hasFailed',
                  target: 'waiting',
                  description: 'The first event has failed before.',
                },
                { guard: 'hasQueued', target: 'delivering', description: 'Something may be in the queue.' },
                { guard: 'hasEnded', target: 'drained', description: 'Nothing will be in it again.' },
              ],
            },
            delivering: {
              description: 'One attempt to send the first event.',
              entry: 'look',
              invoke: {
                src: 'send',
                input: ({ context }) => context,
                onDone: [
                  {
                    guard: { type: 'isEmpty', ...sent },
                    target: 'idle',
                    description: 'There was none.',
                  },
                  { target: 'recording', actions: 'noteDelivery', description: 'It was taken.' },
                ],
                onError: [
                  {
                    guard: 'attemptsLeft',
                    target: 'recording',
                    actions: { type: 'noteFailure', ...because },
                    description: 'It was not taken, and is tried again.',
                  },
                  {
                    target: 'recording',
                    actions: { type: 'giveUp', ...because },
                    description: 'It was not taken, and its attempts are used up.',
                  },
                ],
              },
            },
            recording: {
              description: 'How the attempt ended is written down.',
              invoke: {
                src: 'record',
                input: ({ context }) => context,
                onDone: { target: 'idle', actions: 'settle', description: 'It is.' },
                onError: { target: 'stuck', description: 'The store failed.' },
              },
            },
            stuck: {
              description: 'Gives the store time; what was sent is not sent again for that.',
              invoke: {
                src: 'rest',
                input: ({ context }) => context,
                onDone: { target: 'recording', description: 'Tries to write it down again.' },
              },
            },
            waiting: {
              description: 'The first event failed; those behind it wait with it.',
              after: {
                retryDelay: { target: 'delivering', description: 'Tries again.' },
              },
            },
            drained: { type: 'final', description: 'Everything of the task was sent or given up.' },
          },
        },
      },
    },
    done: { type: 'final', description: 'Nothing is left to do.' },
    orphaned: { type: 'final', description: 'There is nothing to be told of.' },
    removed: { type: 'final', description: 'The config is gone, and what was queued for it.' },
  },
});
