import { assign, fromPromise, setup } from 'xstate';

/**
 * Delivers the updates of one task to one push endpoint (a2a.md 11.2, 11.3) until the task ends and its queue is empty.
 *
 * Two regions run in parallel. One follows the task: updates are added to a durable queue, and updates that were missed
 * during a restart or a store failure are found by comparing the task with the last queued update. The other sends the
 * queue in order, one event at a time: a failed event is retried with a growing delay and blocks the events after it
 * until its attempts are used up. The result of each attempt is stored before the next step, so that a restart
 * continues at the same position.
 *
 * The machine never reads `host`; it only passes it on to the services.
 */

export type PushInput = {
  host: object;
  /** Attempts made so far for the first event in the queue. */
  attempts: number;
  maxAttempts: number;
};

/** The result to store for the first event in the queue. */
export type PushVerdict = 'delivered' | 'failed' | 'given_up';

export type PushContext = PushInput & {
  /** Whether the queue may contain events that were not read yet. */
  queued: boolean;
  /** Whether the final status of the task is in the queue. */
  ended: boolean;
  verdict: PushVerdict;
  /** Why the last attempt failed. */
  error: unknown;
};

/** `ended`: the task has ended. `gone`: the task or the push config no longer exists. */
export type PushFollowing = 'watching' | 'ended' | 'gone';

/** `empty`: the queue contained no event. */
export type PushSent = 'sent' | 'empty';

export type PushDeliveryEvent =
  /** `last`: the task has ended, and no further event follows. */
  { type: 'QUEUED'; last: boolean } | { type: 'MISSED' } | { type: 'REMOVED' };

const service = <Output>() =>
  fromPromise<Output, PushContext>(() => Promise.reject(new Error('the service is bound by its owner')));

const found = { params: ({ event }: { event: { output: PushFollowing } }) => event.output };
const sent = { params: ({ event }: { event: { output: PushSent } }) => event.output };
const because = { params: ({ event }: { event: { error: unknown } }) => event };

/**
 * Delivers the updates of one A2A task to one push endpoint (a2a.md 11.2, 11.3): one region follows the task, the
 * other sends its queued events in order.
 *
 * @example
 * ```ts
 * for (const { key, description } of Object.values(pushDeliveryMachine.states)) console.log(`${key}: ${description}`);
 * ```
 */
export const pushDeliveryMachine = setup({
  types: {} as { context: PushContext; events: PushDeliveryEvent; input: PushInput },
  actors: {
    /** Starts following the task, and queues missed updates. */
    follow: service<PushFollowing>(),
    /** Sends the first event in the queue. */
    send: service<PushSent>(),
    /** Stores the result of the attempt. */
    record: service<void>(),
    /** Waits before the next attempt after a store failure. */
    rest: service<void>(),
  },
  delays: {
    /** The owner binds the delay; without an owner, retries are immediate. */
    retryDelay: 0,
  },
  guards: {
    isGone: (_, following: PushFollowing) => following === 'gone',
    isOver: (_, following: PushFollowing) => following === 'ended',
    isLast: ({ event }) => event.type === 'QUEUED' && event.last,
    isEmpty: (_, sent: PushSent) => sent === 'empty',
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
  description:
    'Sends the changes of a task to one URL, in order; each event is delivered at least once or abandoned.',
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
      description: 'A push configuration exists and events may be pending.',
      on: {
        REMOVED: { target: 'removed', description: 'The push configuration was deleted.' },
      },
      onDone: { target: 'done', description: 'The task ended and every event was sent or abandoned.' },
      states: {
        following: {
          description: 'Enqueues events.',
          initial: 'catchingUp',
          states: {
            catchingUp: {
              description: 'Compares the task with the last queued event and queues the difference.',
              invoke: {
                src: 'follow',
                input: ({ context }) => context,
                onDone: [
                  {
                    guard: { type: 'isGone', ...found },
                    target: '#push-delivery.orphaned',
                    description: 'The task or the configuration no longer exists.',
                  },
                  {
                    guard: { type: 'isOver', ...found },
                    target: 'ended',
                    actions: 'noteEnd',
                    description: 'The task has already ended; its status is queued.',
                  },
                  {
                    target: 'watching',
                    actions: 'noteQueued',
                    description: 'Missed events are queued.',
                  },
                ],
                onError: { target: 'pausing', description: 'The store failed.' },
              },
              on: {
                QUEUED: { actions: 'noteQueued', description: 'The task changed during the comparison.' },
                MISSED: {
                  target: 'pausing',
                  description: 'The task changed and the event could not be queued.',
                },
              },
            },
            watching: {
              description: 'The task reports its changes.',
              on: {
                QUEUED: [
                  {
                    guard: 'isLast',
                    target: 'ended',
                    actions: 'noteEnd',
                    description: 'The final status of the task is queued.',
                  },
                  { actions: 'noteQueued', description: 'The task changed and the event is queued.' },
                ],
                MISSED: {
                  target: 'pausing',
                  description: 'The task changed and the event could not be queued.',
                },
              },
            },
            pausing: {
              description: 'Waits for the store.',
              on: {
                QUEUED: {
                  actions: 'noteQueued',
                  description: 'The event was queued before the store failed.',
                },
              },
              invoke: {
                src: 'rest',
                input: ({ context }) => context,
                onDone: { target: 'catchingUp', description: 'Queues missed events.' },
              },
            },
            ended: { type: 'final', description: 'No further event will be queued.' },
          },
        },
        sending: {
          description: 'Dequeues and sends events.',
          initial: 'idle',
          states: {
            idle: {
              description: 'The queue is empty.',
              always: [
                {
                  guard: 'hasFailed',
                  target: 'waiting',
                  description: 'The first event has failed attempts.',
                },
                { guard: 'hasQueued', target: 'delivering', description: 'An event may be queued.' },
                { guard: 'hasEnded', target: 'drained', description: 'The queue stays empty.' },
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
                    description: 'The queue is empty.',
                  },
                  {
                    target: 'recording',
                    actions: 'noteDelivery',
                    description: 'The receiver accepted the event.',
                  },
                ],
                onError: [
                  {
                    guard: 'attemptsLeft',
                    target: 'recording',
                    actions: { type: 'noteFailure', ...because },
                    description: 'The receiver rejected the event; it is retried.',
                  },
                  {
                    target: 'recording',
                    actions: { type: 'giveUp', ...because },
                    description: 'The receiver rejected the event and the attempts are exhausted.',
                  },
                ],
              },
            },
            recording: {
              description: 'The result of the attempt is stored.',
              invoke: {
                src: 'record',
                input: ({ context }) => context,
                onDone: { target: 'idle', actions: 'settle', description: 'The result is stored.' },
                onError: { target: 'stuck', description: 'The store failed.' },
              },
            },
            stuck: {
              description: 'Waits for the store; the event is not sent again.',
              invoke: {
                src: 'rest',
                input: ({ context }) => context,
                onDone: { target: 'recording', description: 'Stores the result again.' },
              },
            },
            waiting: {
              description: 'The first event failed; later events wait for it.',
              after: {
                retryDelay: { target: 'delivering', description: 'The delay elapsed.' },
              },
            },
            drained: { type: 'final', description: 'Every event of the task was sent or abandoned.' },
          },
        },
      },
    },
    done: { type: 'final', description: 'Delivery is complete.' },
    orphaned: { type: 'final', description: 'The task does not exist.' },
    removed: { type: 'final', description: 'The configuration and its queued events were deleted.' },
  },
});
