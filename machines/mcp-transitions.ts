import type { McpConnectionContext } from './mcp-types.ts';

/** Transitions that several states of the connection to an MCP server share. */

const wordsOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

export const because = {
  params: ({ event }: { event: { error: unknown } }) => ({ error: wordsOf(event.error) }),
};

export type Because = { error: string };

/** Invokes a service with the whole context as its input. */
export const invoked = <const Source extends string>(src: Source) => ({
  src,
  input: ({ context }: { context: McpConnectionContext }) => context,
});

export const leaving = {
  REMOVE: { target: '#mcp-connection.draining', description: 'The entry of the server was deleted.' },
  STOP: { target: '#mcp-connection.stopping', description: 'The service stops.' },
} as const;

export const rebuilt = <const Target extends string>(target: Target) =>
  ({
    target,
    reenter: true,
    actions: 'startOver',
    description: 'The request in progress is aborted and the connection is rebuilt.',
  }) as const;

/** Repeats the previous kind of attempt: a first connection, or the replacement of a lost one. */
export const onRequest = (description: string) =>
  [
    { guard: 'wasReached', target: 'reconnecting', actions: 'startOver', description },
    { target: 'connecting', actions: 'startOver', description },
  ] as const;

export const attempted = (again: string) =>
  ({
    onDone: { target: '#mcp-connection.ready', actions: 'noteConnection', description: again },
    onError: [
      {
        guard: 'isLastAttempt',
        target: '#mcp-connection.givenUp',
        actions: { type: 'noteAttempt', ...because },
        description: 'The attempt failed and the attempts are exhausted.',
      },
      {
        target: '#mcp-connection.disconnected',
        actions: { type: 'noteAttempt', ...because },
        description: 'The attempt failed; it is retried.',
      },
    ],
  }) as const;
