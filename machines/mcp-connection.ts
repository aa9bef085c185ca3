import { assign, fromPromise, setup, stateIn } from 'xstate';

/**
 * The connection to one MCP server (mcp.md B9), from the entry that names it until that entry is gone.
 *
 * Two streaks of failures are kept, because a success of one kind says nothing of the other: `discovery` is what
 * reading the list of tools came to, `rpc` what calls came to. One streak that is long enough, or word that the
 * connection is lost, ends a connection; then it is made anew after a delay that grows, as often as the budget
 * allows. A server that nobody has reached yet has a budget of its own: it may only be late.
 *
 * What a user is told is in the tags: `connected`, `reconnecting`, `permanently_failed`, `disabled`. `listed` says that the tools
 * of the last good list are offered, whether or not they can be called now.
 *
 * `host` is whatever the services need to do their work; the machine hands it on and never looks inside.
 */

/** How one kind of request goes. Times are milliseconds. */
export type McpStreak = {
  failures: number;
  lastError: string | null;
  /** Of the last failure, to tell which of two streaks failed last. */
  failedAt: number;
  lastAttemptAt: number | null;
  lastSuccessAt: number | null;
};

export type McpRetry = {
  delayMs: number;
  multiplier: number;
  maxDelayMs: number;
  /** Attempts in a row: until the server was reached once, and after that. */
  first: number;
  again: number;
};

export type McpConnectionInput = {
  host: object;
  now(): number;
  /** Failures in a row that end a connection. */
  threshold: number;
  retry: McpRetry;
  /** How often the list of tools is read anew unless the server tells of a change; 0 = never. */
  refreshMs: number;
};

export type McpConnectionContext = McpConnectionInput & {
  /** The server was reached once. */
  reached: boolean;
  /** Attempts in a row that failed. */
  attempts: number;
  /** Why the last attempt failed, or why there is no connection. */
  error: string | null;
  discovery: McpStreak;
  rpc: McpStreak;
};

export type McpConnectionEvent =
  | { type: 'CALL_SUCCEEDED' }
  | { type: 'CALL_FAILED'; error: string }
  /** The child has exited, or the stream is gone. */
  | { type: 'LOST'; error: string }
  /** The server says that its tools have changed, or somebody wants to know. */
  | { type: 'TOOLS_CHANGED' }
  | { type: 'RESTART' }
  /** The entry is gone: calls that are under way may end. */
  | { type: 'REMOVE' }
  /** The service stops. */
  | { type: 'STOP' };

const service = fromPromise<void, McpConnectionContext>(() =>
  Promise.reject(new Error('the service is bound by its owner')),
);

const FRESH: McpStreak = {
  failures: 0,
  lastError: null,
  failedAt: 0,
  lastAttemptAt: null,
  lastSuccessAt: null,
};

const succeeded = (now: number): McpStreak => ({ ...FRESH, lastAttemptAt: now, lastSuccessAt: now });

const failed = (before: McpStreak, now: number, error: string): McpStreak => ({
  failures: before.failures + 1,
  lastError: error,
  failedAt: now,
  lastAttemptAt: now,
  lastSuccessAt: before.lastSuccessAt,
});

/** Without its failures; when it was tried stays. */
const forgiven = (before: McpStreak): McpStreak => ({ ...before, failures: 0, lastError: null });

const wordsOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const because = { params: ({ event }: { event: { error: unknown } }) => ({ error: wordsOf(event.error) }) };

type Because = { error: string };

const budgetOf = ({ reached, retry }: McpConnectionContext): number => (reached ? retry.again : retry.first);

/** Past this many the delay is at its ceiling, whatever the policy says. */
const MOST_COUNTED = 64;

const leaving = {
  REMOVE: { target: '#mcp-connection.draining', description: 'Its entry is gone.' },
  STOP: { target: '#mcp-connection.stopping', description: 'The service stops.' },
} as const;

const anew = <const Target extends string>(target: Target) =>
  ({
    target,
    reenter: true,
    actions: 'startOver',
    description: 'Whatever it hangs in is dropped, and it begins anew.',
  }) as const;

/** As what it was before: a first attempt, or one in place of a connection that was lost. */
const onRequest = (description: string) =>
  [
    { guard: 'wasReached', target: 'reconnecting', actions: 'startOver', description },
    { target: 'connecting', actions: 'startOver', description },
  ] as const;

const attempted = (again: string) =>
  ({
    onDone: { target: '#mcp-connection.ready', actions: 'noteConnection', description: again },
    onError: [
      {
        guard: 'isLastAttempt',
        target: '#mcp-connection.givenUp',
        actions: { type: 'noteAttempt', ...because },
        description: 'It failed, and the budget of attempts is spent.',
      },
      {
        target: '#mcp-connection.disconnected',
        actions: { type: 'noteAttempt', ...because },
        description: 'It failed, and is tried again.',
      },
    ],
  }) as const;

export const mcpConnectionMachine = setup({
  types: {} as {
    context: McpConnectionContext;
    events: McpConnectionEvent;
    input: McpConnectionInput;
    tags: 'connected' | 'reconnecting' | 'permanently_failed' | 'disabled' | 'listed';
  },
  actors: {
    /** Initializes, and reads the list of tools. */
    connect: service,
    /** Reads the list of tools. */
    list: service,
    /** Waits for the calls that are under way, for a while. */
    drain: service,
    /** Ends the session or the child, whatever it takes. */
    close: service,
  },
  delays: {
    /** The same server is not tried faster for being lost more often. */
    retryDelay: ({ context: { attempts, retry } }) =>
      Math.min(retry.delayMs * retry.multiplier ** attempts, retry.maxDelayMs),
    refreshDelay: ({ context }) => context.refreshMs,
    /** Changes that a server tells of in quick succession are one. */
    settleDelay: 100,
  },
  guards: {
    hasFailed: ({ context }) => context.discovery.failures + context.rpc.failures > 0,
    isWell: ({ context }) => context.discovery.failures + context.rpc.failures === 0,
    isLastDiscovery: ({ context }) => context.discovery.failures + 1 >= context.threshold,
    isLastCall: ({ context }) => context.rpc.failures + 1 >= context.threshold,
    isLastAttempt: ({ context }) => context.attempts + 1 >= budgetOf(context),
    wasReached: ({ context }) => context.reached,
    refreshes: ({ context }) => context.refreshMs > 0,
    isOutdated: stateIn({ ready: { catalogue: { listing: 'outdated' } } }),
  },
  actions: {
    noteConnection: assign({
      reached: true,
      attempts: 0,
      error: null,
      discovery: ({ context }) => succeeded(context.now()),
      rpc: FRESH,
    }),
    noteAttempt: assign({
      attempts: ({ context }) => Math.min(context.attempts + 1, MOST_COUNTED),
      error: (_, { error }: Because) => error,
      discovery: ({ context }) => ({ ...context.discovery, lastAttemptAt: context.now() }),
    }),
    noteLoss: assign({ error: (_, { error }: Because) => error }),
    noteList: assign({ attempts: 0, discovery: ({ context }) => succeeded(context.now()) }),
    noteNoList: assign({
      discovery: ({ context }, { error }: Because) => failed(context.discovery, context.now(), error),
    }),
    noteCall: assign({ rpc: ({ context }) => succeeded(context.now()) }),
    noteFailedCall: assign({
      rpc: ({ context }, { error }: Because) => failed(context.rpc, context.now(), error),
    }),
    startOver: assign({
      attempts: 0,
      error: null,
      discovery: ({ context }) => forgiven(context.discovery),
      rpc: ({ context }) => forgiven(context.rpc),
    }),
  },
}).createMachine({
  id: 'mcp-connection',
  description: 'The connection to one MCP server, kept up as long as its entry is there.',
  context: ({ input }) => ({
    ...input,
    reached: false,
    attempts: 0,
    error: null,
    discovery: FRESH,
    rpc: FRESH,
  }),
  initial: 'connecting',
  states: {
    connecting: {
      description: 'The server is reached for, for the first time; nobody waits for it.',
      invoke: {
        src: 'connect',
        input: ({ context }) => context,
        ...attempted('It is there, and its tools are known.'),
      },
      on: {
        ...leaving,
        RESTART: anew('connecting'),
      },
    },
    ready: {
      type: 'parallel',
      tags: ['connected', 'listed'],
      description: 'Its tools can be called.',
      on: {
        ...leaving,
        LOST: {
          target: 'detaching',
          actions: { type: 'noteLoss', ...because },
          description: 'The child has exited, or the session is gone for good.',
        },
        RESTART: { target: 'restarting', actions: 'startOver', description: 'Somebody wants a new one.' },
      },
      states: {
        health: {
          description: 'How requests have gone lately.',
          initial: 'healthy',
          on: {
            CALL_FAILED: [
              {
                guard: 'isLastCall',
                target: '#mcp-connection.detaching',
                actions: [
                  { type: 'noteFailedCall', ...because },
                  { type: 'noteLoss', ...because },
                ],
                description: 'Too many calls failed in a row.',
              },
              {
                actions: { type: 'noteFailedCall', ...because },
                description: 'A call got no answer that can be read.',
              },
            ],
            CALL_SUCCEEDED: { actions: 'noteCall', description: 'A call was answered.' },
          },
          states: {
            healthy: {
              description: 'The last request of each kind was answered.',
              always: { guard: 'hasFailed', target: 'degraded', description: 'A request failed.' },
            },
            degraded: {
              description: 'Requests of some kind have failed in a row, not enough of them to give it up.',
              always: { guard: 'isWell', target: 'healthy', description: 'Each kind succeeded again.' },
            },
          },
        },
        catalogue: {
          description: 'Which tools the server offers.',
          initial: 'current',
          states: {
            current: {
              description: 'As the server said last; it tells when that changes.',
              always: {
                guard: 'refreshes',
                target: 'scheduled',
                description: 'It is asked from time to time all the same.',
              },
              on: {
                TOOLS_CHANGED: { target: 'settling', description: 'They have changed.' },
              },
            },
            scheduled: {
              description: 'As the server said last; it is asked again later.',
              after: {
                refreshDelay: { target: 'listing', description: 'It is time to ask.' },
              },
              on: {
                TOOLS_CHANGED: { target: 'settling', description: 'They have changed.' },
              },
            },
            settling: {
              description: 'More changes may follow at once.',
              after: {
                settleDelay: { target: 'listing', description: 'Whatever has changed by now is read.' },
              },
            },
            listing: {
              description: 'The list is read, page by page.',
              initial: 'asked',
              invoke: {
                src: 'list',
                input: ({ context }) => context,
                onDone: [
                  {
                    guard: 'isOutdated',
                    target: 'settling',
                    actions: 'noteList',
                    description: 'It is read once more, as it changed meanwhile.',
                  },
                  { target: 'current', actions: 'noteList', description: 'These are the tools from now on.' },
                ],
                onError: [
                  {
                    guard: 'isLastDiscovery',
                    target: '#mcp-connection.detaching',
                    actions: [
                      { type: 'noteNoList', ...because },
                      { type: 'noteLoss', ...because },
                    ],
                    description: 'Too many reads failed in a row.',
                  },
                  {
                    target: 'current',
                    actions: { type: 'noteNoList', ...because },
                    description: 'It could not be read; the last good one stays.',
                  },
                ],
              },
              states: {
                asked: {
                  description: 'What is read is all there is to know.',
                  on: {
                    TOOLS_CHANGED: { target: 'outdated', description: 'They change while they are read.' },
                  },
                },
                outdated: { description: 'What is read may be old already.' },
              },
            },
          },
        },
      },
    },
    detaching: {
      tags: ['reconnecting', 'listed'],
      description: 'What is left of a lost connection is cleared away.',
      invoke: {
        src: 'close',
        input: ({ context }) => context,
        onDone: { target: 'disconnected', description: 'It is gone.' },
        onError: { target: 'disconnected', description: 'It could not be closed in order.' },
      },
      on: {
        ...leaving,
        RESTART: { target: 'restarting', actions: 'startOver', description: 'Somebody wants it now.' },
      },
    },
    disconnected: {
      tags: ['listed'],
      description: 'There is no connection; the tools stay as they were, and calls of them fail.',
      after: {
        retryDelay: [
          { guard: 'wasReached', target: 'reconnecting', description: 'Its delay is over.' },
          { target: 'connecting', description: 'Its delay is over; the server may be up by now.' },
        ],
      },
      on: {
        ...leaving,
        RESTART: onRequest('Somebody wants it now.'),
      },
    },
    restarting: {
      tags: ['reconnecting', 'listed'],
      description: 'The old connection is closed, to be made anew at once.',
      invoke: {
        src: 'close',
        input: ({ context }) => context,
        onDone: { target: 'reconnecting', description: 'It is gone.' },
        onError: { target: 'reconnecting', description: 'It could not be closed in order.' },
      },
      on: leaving,
    },
    reconnecting: {
      tags: ['reconnecting', 'listed'],
      description: 'A connection is made in place of the one that was lost.',
      invoke: {
        src: 'connect',
        input: ({ context }) => context,
        ...attempted('It is there again.'),
      },
      on: {
        ...leaving,
        RESTART: anew('reconnecting'),
      },
    },
    givenUp: {
      tags: ['permanently_failed'],
      description: 'It failed too often: its tools are withdrawn until somebody restarts it.',
      on: {
        ...leaving,
        RESTART: onRequest('Somebody says that it is back.'),
      },
    },
    draining: {
      tags: ['disabled'],
      description: 'Its entry is gone: no call is taken, and those under way may end.',
      invoke: {
        src: 'drain',
        input: ({ context }) => context,
        onDone: { target: 'stopping', description: 'None is left, or they took too long.' },
        onError: { target: 'stopping', description: 'They are not waited for.' },
      },
      on: {
        STOP: { target: 'stopping', description: 'The service stops.' },
      },
    },
    stopping: {
      tags: ['disabled'],
      description: 'The session is ended, the child reaped.',
      invoke: {
        src: 'close',
        input: ({ context }) => context,
        onDone: { target: 'stopped', description: 'Nothing of it is left.' },
        onError: { target: 'stopped', description: 'It could not be closed in order.' },
      },
    },
    stopped: { type: 'final', tags: ['disabled'], description: 'Nobody is connected any more.' },
  },
});
