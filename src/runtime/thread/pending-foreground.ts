import { Conflict } from '../../schema/outcome.ts';
import { startRun } from './accept-input.ts';
import type { Input } from './request-types.ts';
import type { Thread } from './state.ts';

/** Foreground input that waits until the cancelled run releases the thread; the newest replaces the previous one. */

export function keepPendingForeground(thread: Thread, request: Input): void {
  thread.pendingForeground = request;
}

export function startPendingForeground(thread: Thread): void {
  const request = takePendingForeground(thread);
  if (!request) {
    thread.actor.send({ type: 'RUN_ENDED' });
    return;
  }
  try {
    startRun(thread, request);
  } catch (error) {
    // The current event belongs to another request, so this request must be rejected here.
    request.refuse(error);
    throw error;
  }
}

export function refusePendingForeground(thread: Thread): void {
  rejectPendingForeground(thread, new Conflict('thread has an active run; cannot claim inline'));
}

export function rejectPendingForeground(thread: Thread, error: Error): void {
  takePendingForeground(thread)?.refuse(error);
}

function takePendingForeground(thread: Thread): Input | undefined {
  const { pendingForeground } = thread;
  thread.pendingForeground = undefined;
  return pendingForeground;
}
