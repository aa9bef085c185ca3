import { assign, setup } from 'xstate';

/**
 * One client session of the MCP endpoint, from `initialize` until its id is no longer valid (mcp.md A6).
 *
 * The session counts its open requests; it can expire or be evicted for a newer session only while there are none. The
 * machine does not execute requests: their abort signals notify them of the end of the session.
 */

export type McpSessionInput = {
  /** Milliseconds without a message or an open request until the session expires; 0 = never. */
  idleMs: number;
  /** Maximum number of concurrent requests. */
  maxOpen: number;
};

export type McpSessionContext = McpSessionInput & {
  /** The negotiated protocol version; undefined before the negotiation. */
  version: string | undefined;
  /** Number of requests without a response. */
  open: number;
};

export type McpSessionEvent =
  | { type: 'OPENED'; version: string }
  | { type: 'REFUSED' }
  /** A request was received. */
  | { type: 'BEGIN' }
  /** A request was answered or cancelled, or its client disconnected. */
  | { type: 'SETTLE' }
  /** A notification or a response was received. */
  | { type: 'HEAR' }
  | { type: 'DELETE' }
  | { type: 'EVICT' }
  | { type: 'STOP' };

/** The maximum delay of a JavaScript timer. */
const LONGEST_MS = 2 ** 31 - 1;

/**
 * One client session of the MCP endpoint, from `initialize` until its id is no longer valid (mcp.md A6). Times are in
 * milliseconds.
 *
 * @example
 * ```ts
 * for (const { key, description } of Object.values(mcpSessionMachine.states)) console.log(`${key}: ${description}`);
 * ```
 */
export const mcpSessionMachine = setup({
  types: {} as {
    context: McpSessionContext;
    events: McpSessionEvent;
    input: McpSessionInput;
    tags: 'known';
  },
  delays: {
    idleTime: ({ context }) => Math.min(context.idleMs || LONGEST_MS, LONGEST_MS),
  },
  guards: {
    expires: ({ context }) => context.idleMs > 0,
    hasRoom: ({ context }) => context.open < context.maxOpen,
    isLast: ({ context }) => context.open === 1,
  },
  actions: {
    noteVersion: assign({ version: (_, { version }: { version: string }) => version }),
    count: assign({ open: ({ context }) => context.open + 1 }),
    discount: assign({ open: ({ context }) => context.open - 1 }),
  },
}).createMachine({
  id: 'mcp-session',
  description: 'A client of the MCP endpoint, identified by its session id.',
  context: ({ input }) => ({ ...input, version: undefined, open: 0 }),
  initial: 'opening',
  states: {
    opening: {
      description: 'The client requested a session; the id is not issued yet.',
      on: {
        OPENED: {
          target: 'open',
          actions: { type: 'noteVersion', params: ({ event }) => event },
          description: 'Client and service agreed on a protocol version.',
        },
        REFUSED: { target: 'refused', description: 'The initialize request failed.' },
        STOP: { target: 'stopped', description: 'The service stops.' },
      },
    },
    open: {
      description: 'The client may use the id, over several connections at once.',
      tags: 'known',
      initial: 'idle',
      on: {
        DELETE: {
          target: 'deleted',
          description: 'The client ends the session; requests in progress are cancelled.',
        },
        STOP: { target: 'stopped', description: 'The service stops.' },
      },
      states: {
        idle: {
          description: 'No request is in progress.',
          after: {
            idleTime: {
              guard: 'expires',
              target: '#mcp-session.forgotten',
              description: 'The idle timeout elapsed.',
            },
          },
          on: {
            BEGIN: { target: 'busy', actions: 'count', description: 'A request arrived.' },
            HEAR: {
              target: 'idle',
              reenter: true,
              description: 'The session was used; the idle timeout restarts.',
            },
            EVICT: { target: '#mcp-session.forgotten', description: 'Evicted for a newer session.' },
          },
        },
        busy: {
          description: 'Requests are in progress; the session is not evicted.',
          on: {
            BEGIN: {
              guard: 'hasRoom',
              actions: 'count',
              description: 'Another concurrent request.',
            },
            SETTLE: [
              {
                guard: 'isLast',
                target: 'idle',
                actions: 'discount',
                description: 'The last request ended.',
              },
              { actions: 'discount', description: 'Other requests are still in progress.' },
            ],
            HEAR: { description: 'A notification, or the response to a request of the service.' },
          },
        },
      },
    },
    refused: { type: 'final', description: 'No session was opened.' },
    deleted: { type: 'final', description: 'Ended by its client; the id is no longer valid.' },
    forgotten: { type: 'final', description: 'Expired or evicted; the client initializes a new session.' },
    stopped: { type: 'final', description: 'Ended by the stop of the service.' },
  },
});
