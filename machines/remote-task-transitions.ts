import type { Polled, RemoteTaskContext, Streamed, Submitted } from './remote-task-types.ts';

/** Transitions that several states of a remote task share. */

export type Found = Submitted | Streamed | Polled;
type Seen = { event: { output: Found } };
export type Failed = { event: { error: unknown } };

/** Passes the result of a service on to guards and actions. */
export const found = { params: ({ event }: Seen) => event.output };

/** Invokes a service with the whole context as its input. */
export const invoked = <const Source extends string>(src: Source) => ({
  src,
  input: ({ context }: { context: RemoteTaskContext }) => context,
});

export const failed = (description: string) =>
  ({
    target: '#remote-task.failed',
    actions: { type: 'fail', params: ({ event }: Failed) => ({ error: event.error }) },
    description,
  }) as const;

export const settled = (description: string) =>
  ({
    guard: { type: 'isSettled', ...found },
    target: '#remote-task.settled',
    actions: { type: 'note', ...found },
    description,
  }) as const;

export const giveUp = (reason: 'cancelled' | 'timed_out') =>
  ({ type: 'giveUp', params: { reason } }) as const;
