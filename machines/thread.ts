import { and, not, setup } from 'xstate';

/**
 * Admission: what a thread does with input, decisions and cancels, given what it is busy with. At most one run
 * executes on a thread. What happens and in which order is decided here; the actions that carry it out are bound
 * by the runtime.
 *
 * `host` is whatever guards and actions need; the machine hands it on and never looks inside.
 */

export type ThreadEvent =
  | { type: 'FOREGROUND'; request: object }
  | { type: 'QUEUE'; request: object }
  | { type: 'STEER'; request: object }
  | { type: 'INTERRUPT_THEN_QUEUE'; request: object }
  | { type: 'CONTINUE'; request: object }
  | { type: 'DRIVE'; request: object }
  | { type: 'DECIDE'; request: object }
  | { type: 'TASK_EVENT'; request: object }
  | { type: 'CANCEL'; request: object }
  | { type: 'INTERRUPT'; request: object }
  | { type: 'WAKE' }
  | { type: 'RUN_ENDED' }
  | { type: 'RUN_PARKED' }
  | { type: 'DELETE'; request: object };

const startsNow = {
  target: 'busy',
  actions: 'startRun',
  description: 'Starts at once.',
} as const;

/** There is no room for another run in this process: the thread waits for its turn, and the input with it. */
const linesUp = {
  guard: 'isFull',
  actions: 'enqueue',
  description: 'As many runs execute as may: it waits for its turn.',
} as const;

const forLater = {
  guard: 'isDelayed',
  actions: 'enqueue',
  description: 'Not available yet: it waits for its time.',
} as const;

/** Nothing executes: what waits or is queued goes, and the input comes in its place. */
const comesInPlace = [
  { ...forLater, actions: 'enqueueCleared' },
  { ...linesUp, actions: 'enqueueCleared' },
  { ...startsNow, actions: 'startCleared' },
] as const;

const continuesRun = {
  guard: 'continuesOpenRun',
  target: 'busy',
  actions: 'continueRun',
  description: 'The same run goes on with the new input.',
} as const;

const startsBeside = {
  target: 'busy',
  actions: 'startRun',
  description: 'Another agent; the open run waits on.',
} as const;

const continuesInLine = {
  guard: 'continuesWhenFull',
  actions: 'enqueueContinuation',
  description: 'As many runs execute as may: the run goes on with it when it is its turn.',
} as const;

/** It waits behind what executes: its turn comes, and the input with it. */
const continuesLater = {
  guard: 'continuesOpenRun',
  actions: 'enqueueContinuation',
  description: 'The run that it is for goes on with it when it is its turn.',
} as const;

const notDriven = { actions: 'refuse', description: 'The thread is busy with something else.' } as const;

const wakesLater = {
  guard: 'awaitsTasks',
  actions: 'enqueueWake',
  description: 'Another run executes: the one that waits for the task goes on when it is its turn.',
} as const;

const keepsEvent = {
  actions: 'keepEvent',
  description: 'Its run waits for something else and learns of it then; if it is done, nobody has to know.',
} as const;

const nothingToContinue = { actions: 'refuse', description: 'No run waits here.' } as const;

/** What only the thread itself knows; the runtime answers. */
const asked = (): boolean => false;

export const threadMachine = setup({
  types: {} as { context: { host: object }; events: ThreadEvent; input: { host: object } },
  guards: {
    /** Is work queued that may start now, and does nothing keep it from starting? */
    hasQueued: asked,
    /** Do as many runs execute in this process as may, or do other threads wait for their turn? */
    isFull: asked,
    /** Does a run of the thread wait? */
    hasWaiting: asked,
    hasNoneWaiting: not('hasWaiting'),
    /** Does the input continue the waiting open run (runtime.md 7.4)? */
    continuesOpenRun: asked,
    continuesWhenFull: and(['isFull', 'continuesOpenRun']),
    /** Does the active run still take this input for its next step? */
    takesInput: asked,
    /** Is the end of the active run in a commit already? */
    isEnding: asked,
    /** May the input start now, or is it for later? */
    isDelayed: asked,
    /** Are these decisions for the run that executes here, and nothing else? */
    answersActive: asked,
    /** Is the run that a decision is for the one that executes here? */
    executes: asked,
    /** Is it one that waits in this process? */
    holds: asked,
    /** Does the run that a task event is for wait for its tasks, and does nothing execute it? */
    awaitsTasks: asked,
    holdsAwaiting: and(['holds', 'awaitsTasks']),
    awaitsTasksWhenFull: and(['isFull', 'awaitsTasks']),
  },
  actions: {
    startRun: () => {},
    continueRun: () => {},
    enqueue: () => {},
    enqueueForeground: () => {},
    enqueueInstead: () => {},
    deliver: () => {},
    refuse: () => {},
    startNext: () => {},
    decide: () => {},
    resumeHeld: () => {},
    enqueueDecision: () => {},
    enqueueContinuation: () => {},
    deliverEvent: () => {},
    enqueueWake: () => {},
    wakeHeld: () => {},
    keepEvent: () => {},
    cancel: () => {},
    bumpEpoch: () => {},
    cancelActive: () => {},
    interrupt: () => {},
    startCleared: () => {},
    enqueueCleared: () => {},
    answer: () => {},
    replaceOpen: () => {},
    holdClaimant: () => {},
    startClaimant: () => {},
    refuseClaimant: () => {},
    reportTimeout: () => {},
    remove: () => {},
  },
  delays: {
    /** How long a foreground run waits for the old one to let go; the runtime knows the setting. */
    releaseWait: 5_000,
  },
}).createMachine({
  id: 'thread',
  description: 'Admission of input to a thread: at most one run executes at a time.',
  context: ({ input }) => input,
  initial: 'idle',
  on: {
    CANCEL: { actions: 'cancel', description: 'One run: executing, waiting or queued.' },
    DELETE: { target: '.deleted', actions: 'remove', description: 'Its work stops and its rows go.' },
  },
  states: {
    idle: {
      description: 'Nothing executes and no run waits.',
      always: { guard: 'hasWaiting', target: 'waiting', description: 'A run of the thread waits.' },
      on: {
        FOREGROUND: [
          {
            guard: 'isFull',
            actions: 'enqueueForeground',
            description: 'As many runs execute as may: it overtakes the queue and waits for its turn.',
          },
          startsNow,
        ],
        QUEUE: [forLater, linesUp, startsNow],
        STEER: [forLater, linesUp, { ...startsNow, description: 'No run to steer: as QUEUE.' }],
        INTERRUPT_THEN_QUEUE: comesInPlace,
        CONTINUE: nothingToContinue,
        DRIVE: { ...startsNow, description: 'A tool call of another thread drives a run here.' },
        DECIDE: { actions: 'refuse', description: 'No run waits here.' },
        TASK_EVENT: keepsEvent,
        INTERRUPT: { actions: 'interrupt', description: 'Nothing executes; the queue goes.' },
        WAKE: {
          guard: 'hasQueued',
          target: 'busy',
          actions: 'startNext',
          description: 'Queued work was found after a restart, or became available.',
        },
      },
    },
    busy: {
      description: 'A run executes.',
      on: {
        FOREGROUND: [
          {
            guard: 'answersActive',
            actions: 'answer',
            description: 'Decisions for the run that executes, and nothing else.',
          },
          {
            target: 'displacing',
            actions: ['bumpEpoch', 'holdClaimant', 'cancelActive'],
            description: 'A foreground run replaces whatever executes or is queued.',
          },
        ],
        QUEUE: [forLater, continuesLater, { actions: 'enqueue', description: 'Waits for its turn.' }],
        STEER: [
          forLater,
          { guard: 'takesInput', actions: 'deliver', description: 'Joins the running run at its next step.' },
          continuesLater,
          { actions: 'enqueue', description: 'The run is past its last step: as QUEUE.' },
        ],
        INTERRUPT_THEN_QUEUE: {
          actions: ['enqueueCleared', 'cancelActive'],
          description: 'Stops the run, drops the queue, and is next.',
        },
        CONTINUE: [continuesLater, nothingToContinue],
        DRIVE: notDriven,
        DECIDE: [
          { guard: 'executes', actions: 'decide', description: 'One of its calls waits, others execute.' },
          { actions: 'enqueueDecision', description: 'Another run: goes on when it is its turn.' },
        ],
        TASK_EVENT: [
          {
            guard: 'takesInput',
            actions: 'deliverEvent',
            description: 'Joins its run, which executes, at the next step.',
          },
          wakesLater,
          keepsEvent,
        ],
        INTERRUPT: {
          actions: ['interrupt', 'cancelActive'],
          description: 'Stops the run and drops the queue.',
        },
        RUN_ENDED: [
          { guard: 'hasQueued', actions: 'startNext', description: 'The next in the queue.' },
          { target: 'idle', description: 'Nothing left to do.' },
        ],
        RUN_PARKED: [
          { guard: 'hasQueued', actions: 'startNext', description: 'Queued work goes on.' },
          { target: 'waiting', description: 'The run waits for a decision or input.' },
        ],
      },
    },
    displacing: {
      description: 'A foreground run waits for the cancelled one to let go of the thread.',
      on: {
        FOREGROUND: [
          { guard: 'answersActive', actions: 'refuse', description: 'The run is being cancelled.' },
          {
            actions: ['bumpEpoch', 'refuseClaimant', 'holdClaimant'],
            description: 'The newest foreground run wins; the one before is refused.',
          },
        ],
        QUEUE: [forLater, continuesLater, { actions: 'enqueue', description: 'Waits for its turn.' }],
        STEER: [
          forLater,
          continuesLater,
          { actions: 'enqueue', description: 'The run is being cancelled: as QUEUE.' },
        ],
        INTERRUPT_THEN_QUEUE: {
          target: 'busy',
          actions: ['refuseClaimant', 'enqueueCleared'],
          description: 'The claimant is interrupted before it began; the input is next.',
        },
        CONTINUE: [continuesLater, nothingToContinue],
        DRIVE: notDriven,
        DECIDE: [
          { guard: 'executes', actions: 'refuse', description: 'The run is being cancelled.' },
          { actions: 'enqueueDecision', description: 'Another run: goes on when it is its turn.' },
        ],
        TASK_EVENT: [wakesLater, keepsEvent],
        INTERRUPT: {
          target: 'busy',
          actions: ['interrupt', 'refuseClaimant'],
          description: 'The claimant is interrupted before it began.',
        },
        DELETE: {
          target: 'deleted',
          actions: ['refuseClaimant', 'remove'],
          description: 'Its work stops and its rows go; nobody waits for it any more.',
        },
        RUN_ENDED: { target: 'busy', actions: 'startClaimant', description: 'The thread is free.' },
        RUN_PARKED: { target: 'busy', actions: 'startClaimant', description: 'The thread is free.' },
      },
      after: {
        releaseWait: [
          {
            guard: 'isEnding',
            target: 'displacing',
            reenter: true,
            description:
              'The store has not yet answered the commit that ends the old run: the wait continues.',
          },
          {
            target: 'busy',
            actions: ['reportTimeout', 'refuseClaimant'],
            description: 'The old run does not let go.',
          },
        ],
      },
    },
    waiting: {
      description: 'Nothing executes; a run waits for a decision, input or tasks.',
      always: { guard: 'hasNoneWaiting', target: 'idle', description: 'The wait is over.' },
      on: {
        FOREGROUND: [
          continuesInLine,
          continuesRun,
          {
            guard: 'isFull',
            actions: 'enqueueInstead',
            description: 'Another agent takes the thread when it is its turn.',
          },
          {
            target: 'busy',
            actions: 'replaceOpen',
            description: 'Another agent takes the thread.',
          },
        ],
        QUEUE: [forLater, continuesInLine, continuesRun, linesUp, startsBeside],
        STEER: [forLater, continuesInLine, continuesRun, linesUp, startsBeside],
        INTERRUPT_THEN_QUEUE: comesInPlace,
        CONTINUE: [
          continuesInLine,
          continuesRun,
          { actions: 'refuse', description: 'It does not continue this run.' },
        ],
        DRIVE: [continuesRun, notDriven],
        DECIDE: [
          {
            guard: 'isFull',
            actions: 'enqueueDecision',
            description: 'As many runs execute as may: it goes on when it is its turn.',
          },
          { guard: 'holds', target: 'busy', actions: 'resumeHeld', description: 'It goes on in place.' },
          {
            target: 'busy',
            actions: ['enqueueDecision', 'startNext'],
            description: 'It goes on from its last commit.',
          },
        ],
        TASK_EVENT: [
          {
            guard: 'awaitsTasksWhenFull',
            actions: 'enqueueWake',
            description: 'As many runs execute as may: the run goes on when it is its turn.',
          },
          {
            guard: 'holdsAwaiting',
            target: 'busy',
            actions: 'wakeHeld',
            description: 'The run that waits for the task goes on in place.',
          },
          {
            guard: 'awaitsTasks',
            target: 'busy',
            actions: ['enqueueWake', 'startNext'],
            description: 'The run that waits for the task goes on from its last commit.',
          },
          keepsEvent,
        ],
        INTERRUPT: { actions: 'interrupt', description: 'The wait is over.' },
        WAKE: {
          guard: 'hasQueued',
          target: 'busy',
          actions: 'startNext',
          description: 'A decision was queued, or other work.',
        },
      },
    },
    deleted: { type: 'final', description: 'Gone; late commits of its runs write no thread rows.' },
  },
});
