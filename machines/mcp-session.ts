import { assign, setup } from 'xstate';

/**
 * One client of the MCP endpoint, from `initialize` until its session id is unknown again (mcp.md A6).
 *
 * The session counts what is under way in it; only while nothing is, its time runs out, or may it have to make room for
 * a newer one. What the requests do is their own business: they are told by their signals that the session has ended.
 */

export type McpSessionInput = {
  /** Milliseconds without a message or an open request; 0: for ever. */
  idleMs: number;
  /** So many requests may be under way at once. */
  maxOpen: number;
};

export type McpSessionContext = McpSessionInput & {
  /** The protocol version that both sides agreed on; undefined before. */
  version: string | undefined;
  /** Requests that were not answered yet. */
  open: number;
};

export type McpSessionEvent =
  | { type: 'OPENED'; version: string }
  | { type: 'REFUSED' }
  /** A request has come. */
  | { type: 'BEGIN' }
  /** A request was answered, cancelled, or its client has gone and nobody waits for the answer. */
  | { type: 'SETTLE' }
  /** A notification or an answer has come. */
  | { type: 'HEAR' }
  | { type: 'DELETE' }
  | { type: 'EVICT' }
  | { type: 'STOP' };

/** The longest that a timer of JavaScript waits. */
const LONGEST_MS = 2 ** 31 - 1;

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
  description: 'A client of the MCP endpoint, known by the session id that it was given.',
  context: ({ input }) => ({ ...input, version: undefined, open: 0 }),
  initial: 'opening',
  states: {
    opening: {
      description: 'The client has asked for a session; its id is not given out yet.',
      on: {
        OPENED: {
          target: 'open',
          actions: { type: 'noteVersion', params: ({ event }) => event },
          description: 'Both sides agreed on a version of the protocol.',
        },
        REFUSED: { target: 'refused', description: 'The request to initialize cannot be answered.' },
        STOP: { target: 'stopped', description: 'The service stops.' },
      },
    },
    open: {
      description: 'The client may use its id, also over many connections at once.',
      tags: 'known',
      initial: 'idle',
      on: {
        DELETE: { target: 'deleted', description: 'The client ends it; what is under way is cancelled.' },
        STOP: { target: 'stopped', description: 'The service stops.' },
      },
      states: {
        idle: {
          description: 'Nothing is under way.',
          after: {
            idleTime: {
              guard: 'expires',
              target: '#mcp-session.forgotten',
              description: 'Nobody has used it for long.',
            },
          },
          on: {
            BEGIN: { target: 'busy', actions: 'count', description: 'A request has come.' },
            HEAR: { target: 'idle', reenter: true, description: 'It is used; its time begins again.' },
            EVICT: { target: '#mcp-session.forgotten', description: 'It makes room for a newer one.' },
          },
        },
        busy: {
          description: 'Requests are being answered; it is kept as long as that takes.',
          on: {
            BEGIN: {
              guard: 'hasRoom',
              actions: 'count',
              description: 'One more request, beside the others.',
            },
            SETTLE: [
              {
                guard: 'isLast',
                target: 'idle',
                actions: 'discount',
                description: 'Nothing is under way any more.',
              },
              { actions: 'discount', description: 'Others are still under way.' },
            ],
            HEAR: { description: 'A notification, or the answer to a question of the service.' },
          },
        },
      },
    },
    refused: { type: 'final', description: 'There never was a session.' },
    deleted: { type: 'final', description: 'Ended by its client; the id is unknown from now on.' },
    forgotten: { type: 'final', description: 'Nobody needed it; its client initializes again.' },
    stopped: { type: 'final', description: 'Ended with the service.' },
  },
});
