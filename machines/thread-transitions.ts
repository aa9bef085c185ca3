import type { Received } from './thread-types.ts';

/** Transitions that several states of a thread share. */

/** Passes the request of the event on to a guard or an action. */
export function withRequest<const Name extends string>(type: Name) {
  return { type, params: receivedFrom } as const;
}

function receivedFrom<Event extends Received<object>>({ event }: { event: Event }): Event {
  return event;
}

export const startsNow = {
  target: 'busy',
  actions: withRequest('startRun'),
  description: 'Starts at once.',
} as const;

/** No concurrency slot is free: the input is queued, and the thread waits for a slot. */
export const queuesWhenFull = {
  guard: 'isFull',
  actions: withRequest('enqueue'),
  description: 'No concurrency slot is free; the input is queued.',
} as const;

export const forLater = {
  guard: withRequest('isDelayed'),
  actions: withRequest('enqueue'),
  description: 'Not available yet; the input is queued until its time.',
} as const;

/** Nothing executes: waiting and queued work is dropped, and the input replaces it. */
export const replacesWhenIdle = [
  { ...forLater, actions: withRequest('enqueueCleared') },
  { ...queuesWhenFull, actions: withRequest('enqueueCleared') },
  { ...startsNow, actions: withRequest('startCleared') },
] as const;

export const continuesRun = {
  guard: withRequest('continuesOpenRun'),
  target: 'busy',
  actions: withRequest('continueRun'),
  description: 'The open run resumes with the new input.',
} as const;

export const startsBeside = {
  target: 'busy',
  actions: withRequest('startRun'),
  description: 'The input is for another agent; the open run stays waiting.',
} as const;

export const continuesInLine = {
  guard: withRequest('continuesWhenFull'),
  actions: withRequest('enqueueContinuation'),
  description: 'No concurrency slot is free; the run resumes with the input when a slot is free.',
} as const;

/** Another run executes: the input is queued as a continuation. */
export const continuesLater = {
  guard: withRequest('continuesOpenRun'),
  actions: withRequest('enqueueContinuation'),
  description: 'The run of the input resumes when it is scheduled.',
} as const;

export const notDriven = {
  actions: withRequest('refuse'),
  description: 'The thread executes another run.',
} as const;

export const wakesLater = {
  guard: withRequest('awaitsTasks'),
  actions: withRequest('enqueueWake'),
  description: 'Another run executes; the run that waits for the task resumes when it is scheduled.',
} as const;

export const keepsEvent = {
  actions: withRequest('keepEvent'),
  description:
    'The run waits for something else and receives the event when it resumes; the event of a finished run is dropped.',
} as const;

export const nothingToContinue = {
  actions: withRequest('refuse'),
  description: 'No run is waiting.',
} as const;
