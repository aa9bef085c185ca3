import { assign, fromPromise, setup, stateIn } from 'xstate';
import { ready } from './mcp-ready.ts';
import { FRESH, failed, forgiven, succeeded } from './mcp-streak.ts';
import { attempted, type Because, invoked, leaving, onRequest, rebuilt } from './mcp-transitions.ts';
import type { McpConnectionContext, McpConnectionEvent, McpConnectionInput } from './mcp-types.ts';

/**
 * The connection to one MCP server (mcp.md B9), from the creation of its entry until its removal.
 *
 * Two failure streaks are tracked, because a success of one kind does not imply success of the other: `discovery` for
 * requests that list the tools, `rpc` for tool calls. One long enough streak, or a report that the connection is lost,
 * ends a connection; it is then re-established after a growing delay, as often as the retry budget allows. A server
 * that was never reached has a separate budget, since it may only be slow to start.
 *
 * Tags are the statuses on the wire: `connected`, `reconnecting`, `permanently_failed`, `disabled`. The tag `listed`
 * means that the tools of the last good list are offered, whether or not they can be called now.
 *
 * The machine never reads `host`; it only passes it on to the services.
 */

const service = fromPromise<void, McpConnectionContext>(() =>
  Promise.reject(new Error('the service is bound by its owner')),
);

const budgetOf = ({ reached, retry }: McpConnectionContext): number => (reached ? retry.again : retry.first);

/** Beyond this many attempts the delay is at its maximum under any retry policy. */
const MOST_COUNTED = 64;

/**
 * The connection to one MCP server (mcp.md B9), from the creation of its entry until its removal. Tags of its states
 * are the statuses on the wire.
 *
 * @example
 * ```ts
 * for (const { key, tags } of Object.values(mcpConnectionMachine.states)) console.log(key, tags);
 * ```
 */
export const mcpConnectionMachine = setup({
  types: {} as {
    context: McpConnectionContext;
    events: McpConnectionEvent;
    input: McpConnectionInput;
    tags: 'connected' | 'reconnecting' | 'permanently_failed' | 'disabled' | 'listed';
  },
  actors: {
    /** Initializes the session and reads the tool list. */
    connect: service,
    list: service,
    /** Waits a limited time for calls in progress. */
    drain: service,
    /** Ends the session or the child process, by force if necessary. */
    close: service,
  },
  delays: {
    /** Exponential backoff over the consecutive failed attempts. */
    retryDelay: ({ context: { attempts, retry } }) =>
      Math.min(retry.delayMs * retry.multiplier ** attempts, retry.maxDelayMs),
    refreshDelay: ({ context }) => context.refreshMs,
    /** Change notifications in quick succession cause one read. */
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
  description: 'The connection to an MCP server, maintained while its entry exists.',
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
      description: 'First connection attempt, in the background.',
      invoke: {
        ...invoked('connect'),
        ...attempted('Connected, and the tools are known.'),
      },
      on: {
        ...leaving,
        RESTART: rebuilt('connecting'),
      },
    },
    ready,
    detaching: {
      tags: ['reconnecting', 'listed'],
      description: 'The lost connection is closed.',
      invoke: {
        ...invoked('close'),
        onDone: { target: 'disconnected', description: 'The connection is closed.' },
        onError: { target: 'disconnected', description: 'Closing failed; the connection is dropped.' },
      },
      on: {
        ...leaving,
        RESTART: {
          target: 'restarting',
          actions: 'startOver',
          description: 'An immediate attempt was requested.',
        },
      },
    },
    disconnected: {
      tags: ['listed'],
      description: 'Not connected; the tools stay listed and calls fail.',
      after: {
        retryDelay: [
          { guard: 'wasReached', target: 'reconnecting', description: 'The delay elapsed.' },
          { target: 'connecting', description: 'The delay elapsed; the connection is retried.' },
        ],
      },
      on: {
        ...leaving,
        RESTART: onRequest('An immediate attempt was requested.'),
      },
    },
    restarting: {
      tags: ['reconnecting', 'listed'],
      description: 'The old connection is closed and rebuilt at once.',
      invoke: {
        ...invoked('close'),
        onDone: { target: 'reconnecting', description: 'The connection is closed.' },
        onError: { target: 'reconnecting', description: 'Closing failed; the connection is dropped.' },
      },
      on: leaving,
    },
    reconnecting: {
      tags: ['reconnecting', 'listed'],
      description: 'A connection is opened in place of the lost one.',
      invoke: {
        ...invoked('connect'),
        ...attempted('Connected again.'),
      },
      on: {
        ...leaving,
        RESTART: rebuilt('reconnecting'),
      },
    },
    givenUp: {
      tags: ['permanently_failed'],
      description: 'The attempts are exhausted; the tools are withdrawn until a restart is requested.',
      on: {
        ...leaving,
        RESTART: onRequest('A restart was requested.'),
      },
    },
    draining: {
      tags: ['disabled'],
      description: 'The entry was deleted: new calls are rejected, calls in progress may end.',
      invoke: {
        ...invoked('drain'),
        onDone: { target: 'stopping', description: 'No call is left, or the calls took too long.' },
        onError: { target: 'stopping', description: 'The service does not wait for calls in progress.' },
      },
      on: {
        STOP: { target: 'stopping', description: 'The service stops.' },
      },
    },
    stopping: {
      tags: ['disabled'],
      description: 'The session is ended and the child process is reaped.',
      invoke: {
        ...invoked('close'),
        onDone: { target: 'stopped', description: 'Everything is closed.' },
        onError: { target: 'stopped', description: 'Closing failed; the connection is dropped.' },
      },
    },
    stopped: { type: 'final', tags: ['disabled'], description: 'The connection is closed permanently.' },
  },
});
