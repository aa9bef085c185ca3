import {
  continuesInLine,
  continuesLater,
  continuesRun,
  forLater,
  keepsEvent,
  notDriven,
  nothingToContinue,
  queuesWhenFull,
  replacesWhenIdle,
  startsBeside,
  startsNow,
  wakesLater,
  withRequest,
} from './thread-transitions.ts';

/** The states of a thread, and how each of them handles every request. */

export const idle = {
  description: 'No run is executing or waiting.',
  always: { guard: 'hasWaiting', target: 'waiting', description: 'A run of the thread is waiting.' },
  on: {
    FOREGROUND: [
      {
        guard: 'isFull',
        actions: withRequest('enqueueForeground'),
        description: 'No concurrency slot is free; the input is placed first in the queue.',
      },
      startsNow,
    ],
    QUEUE: [forLater, queuesWhenFull, startsNow],
    STEER: [forLater, queuesWhenFull, { ...startsNow, description: 'No run to steer; handled as QUEUE.' }],
    INTERRUPT_THEN_QUEUE: replacesWhenIdle,
    CONTINUE: nothingToContinue,
    DRIVE: { ...startsNow, description: 'A tool call of another thread executes a run on this thread.' },
    DECIDE: { actions: withRequest('refuse'), description: 'No run is waiting.' },
    TASK_EVENT: keepsEvent,
    INTERRUPT: {
      actions: withRequest('interrupt'),
      description: 'No run is executing; the queue is dropped.',
    },
    WAKE: {
      guard: 'hasQueued',
      target: 'busy',
      actions: 'startNext',
      description: 'Queued work was found after a restart, or became available.',
    },
  },
} as const;

export const busy = {
  description: 'A run is executing.',
  on: {
    FOREGROUND: [
      {
        guard: withRequest('answersActive'),
        actions: withRequest('answer'),
        description: 'Decisions for the executing run.',
      },
      {
        target: 'preempting',
        actions: ['bumpEpoch', withRequest('keepPendingForeground'), 'cancelActive'],
        description: 'A foreground run replaces the executing run and the queue.',
      },
    ],
    QUEUE: [
      forLater,
      continuesLater,
      { actions: withRequest('enqueue'), description: 'The input is queued.' },
    ],
    STEER: [
      forLater,
      {
        guard: withRequest('takesInput'),
        actions: withRequest('deliver'),
        description: 'Joins the running run at its next step.',
      },
      continuesLater,
      { actions: withRequest('enqueue'), description: 'The run is past its last step; handled as QUEUE.' },
    ],
    INTERRUPT_THEN_QUEUE: {
      actions: [withRequest('enqueueCleared'), 'cancelActive'],
      description: 'Stops the run, drops the queue and is next.',
    },
    CONTINUE: [continuesLater, nothingToContinue],
    DRIVE: notDriven,
    DECIDE: [
      {
        guard: withRequest('executes'),
        actions: withRequest('decide'),
        description: 'One call is suspended while others execute.',
      },
      {
        actions: withRequest('enqueueDecision'),
        description: 'A decision for another run, which resumes when it is scheduled.',
      },
    ],
    TASK_EVENT: [
      {
        guard: withRequest('takesInput'),
        actions: withRequest('deliverEvent'),
        description: 'Joins its executing run at the next step.',
      },
      wakesLater,
      keepsEvent,
    ],
    INTERRUPT: {
      actions: [withRequest('interrupt'), 'cancelActive'],
      description: 'Stops the run and drops the queue.',
    },
    RUN_ENDED: [
      { guard: 'hasQueued', actions: 'startNext', description: 'The next queued dispatch starts.' },
      { target: 'idle', description: 'The queue is empty.' },
    ],
    RUN_PARKED: [
      { guard: 'hasQueued', actions: 'startNext', description: 'A queued dispatch starts.' },
      { target: 'waiting', description: 'The run is waiting for a decision or input.' },
    ],
  },
} as const;

export const preempting = {
  description: 'A foreground run waits until the cancelled run releases the thread.',
  on: {
    FOREGROUND: [
      {
        guard: withRequest('answersActive'),
        actions: withRequest('refuse'),
        description: 'The run is being cancelled.',
      },
      {
        actions: ['bumpEpoch', 'refusePendingForeground', withRequest('keepPendingForeground')],
        description: 'The newest foreground run wins; the previous one is rejected.',
      },
    ],
    QUEUE: [
      forLater,
      continuesLater,
      { actions: withRequest('enqueue'), description: 'The input is queued.' },
    ],
    STEER: [
      forLater,
      continuesLater,
      { actions: withRequest('enqueue'), description: 'The run is being cancelled; handled as QUEUE.' },
    ],
    INTERRUPT_THEN_QUEUE: {
      target: 'busy',
      actions: ['refusePendingForeground', withRequest('enqueueCleared')],
      description: 'The pending foreground run is interrupted before it starts; the input is next.',
    },
    CONTINUE: [continuesLater, nothingToContinue],
    DRIVE: notDriven,
    DECIDE: [
      {
        guard: withRequest('executes'),
        actions: withRequest('refuse'),
        description: 'The run is being cancelled.',
      },
      {
        actions: withRequest('enqueueDecision'),
        description: 'A decision for another run, which resumes when it is scheduled.',
      },
    ],
    TASK_EVENT: [wakesLater, keepsEvent],
    INTERRUPT: {
      target: 'busy',
      actions: [withRequest('interrupt'), 'refusePendingForeground'],
      description: 'The pending foreground run is interrupted before it starts.',
    },
    DELETE: {
      target: 'deleted',
      actions: ['refusePendingForeground', withRequest('remove')],
      description: 'Execution stops and the rows are deleted; the pending foreground run is rejected.',
    },
    RUN_ENDED: { target: 'busy', actions: 'startPendingForeground', description: 'The thread is free.' },
    RUN_PARKED: { target: 'busy', actions: 'startPendingForeground', description: 'The thread is free.' },
  },
  after: {
    releaseWait: [
      {
        guard: 'isEnding',
        target: 'preempting',
        reenter: true,
        description: 'The commit that ends the previous run is in progress; the wait continues.',
      },
      {
        target: 'busy',
        actions: ['reportTimeout', 'refusePendingForeground'],
        description: 'The previous run did not release the thread in time.',
      },
    ],
  },
} as const;

export const waiting = {
  description: 'No run is executing; a run waits for a decision, input or tasks.',
  always: { guard: 'hasNoneWaiting', target: 'idle', description: 'The wait is over.' },
  on: {
    FOREGROUND: [
      continuesInLine,
      continuesRun,
      {
        guard: 'isFull',
        actions: withRequest('enqueueInstead'),
        description: 'Another agent starts on the thread when it is scheduled.',
      },
      {
        target: 'busy',
        actions: withRequest('replaceOpen'),
        description: 'Another agent starts on the thread.',
      },
    ],
    QUEUE: [forLater, continuesInLine, continuesRun, queuesWhenFull, startsBeside],
    STEER: [forLater, continuesInLine, continuesRun, queuesWhenFull, startsBeside],
    INTERRUPT_THEN_QUEUE: replacesWhenIdle,
    CONTINUE: [
      continuesInLine,
      continuesRun,
      { actions: withRequest('refuse'), description: 'The input does not continue this run.' },
    ],
    DRIVE: [continuesRun, notDriven],
    DECIDE: [
      {
        guard: 'isFull',
        actions: withRequest('enqueueDecision'),
        description: 'No concurrency slot is free; the run resumes when a slot is free.',
      },
      {
        guard: withRequest('holds'),
        target: 'busy',
        actions: withRequest('resumeHeld'),
        description: 'The suspended run resumes in memory.',
      },
      {
        target: 'busy',
        actions: [withRequest('enqueueDecision'), 'startNext'],
        description: 'The run resumes from its last commit.',
      },
    ],
    TASK_EVENT: [
      {
        guard: withRequest('awaitsTasksWhenFull'),
        actions: withRequest('enqueueWake'),
        description: 'No concurrency slot is free; the run resumes when a slot is free.',
      },
      {
        guard: withRequest('holdsAwaiting'),
        target: 'busy',
        actions: withRequest('wakeHeld'),
        description: 'The run that waits for the task resumes in memory.',
      },
      {
        guard: withRequest('awaitsTasks'),
        target: 'busy',
        actions: [withRequest('enqueueWake'), 'startNext'],
        description: 'The run that waits for the task resumes from its last commit.',
      },
      keepsEvent,
    ],
    INTERRUPT: { actions: withRequest('interrupt'), description: 'The wait is over.' },
    WAKE: {
      guard: 'hasQueued',
      target: 'busy',
      actions: 'startNext',
      description: 'A decision or another dispatch was queued.',
    },
  },
} as const;
