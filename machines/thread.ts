import { setup } from 'xstate';

/**
 * Admission: what a thread does with input, given what it is busy with. At most one run executes on a thread.
 * Decisions about status and order are taken here; the actions that carry them out are bound by the runtime.
 *
 * `host` is whatever the actions need; the machine hands it on and asks it four questions (the guards).
 */

export type ThreadHost = {
  /** Is work queued that may start now? */
  hasQueued(): boolean;
  /** Does the input continue the waiting open run (runtime.md 7.4)? */
  continuesOpenRun(request: object): boolean;
  /** Does the active run still take input for its next step? */
  takesInput(): boolean;
  /** Does a run of the thread wait for a decision or input? */
  hasOpenRun(): boolean;
};

export type ThreadEvent =
  | { type: 'FOREGROUND'; request: object }
  | { type: 'QUEUE'; request: object }
  | { type: 'STEER'; request: object }
  | { type: 'INTERRUPT'; request: object }
  | { type: 'WAKE' }
  | { type: 'RUN_ENDED' }
  | { type: 'RUN_PARKED' }
  | { type: 'DELETE'; request: object };

export const threadMachine = setup({
  types: {} as { context: { host: ThreadHost }; events: ThreadEvent; input: { host: ThreadHost } },
  guards: {
    hasQueued: ({ context }) => context.host.hasQueued(),
    continuesOpenRun: ({ context, event }) =>
      'request' in event && context.host.continuesOpenRun(event.request),
    takesInput: ({ context }) => context.host.takesInput(),
    hasOpenRun: ({ context }) => context.host.hasOpenRun(),
  },
  actions: {
    startRun: () => {},
    continueRun: () => {},
    enqueue: () => {},
    deliver: () => {},
    startNext: () => {},
    bumpEpoch: () => {},
    cancelActive: () => {},
    cancelOpen: () => {},
    holdClaimant: () => {},
    startClaimant: () => {},
    refuseClaimant: () => {},
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
    DELETE: { target: '.deleted', actions: 'remove', description: 'Its work stops and its rows go.' },
  },
  states: {
    idle: {
      description: 'Nothing executes and no run is open.',
      on: {
        FOREGROUND: { target: 'busy', actions: 'startRun', description: 'Starts at once.' },
        QUEUE: { target: 'busy', actions: ['enqueue', 'startNext'], description: 'Starts at once.' },
        STEER: {
          target: 'busy',
          actions: ['enqueue', 'startNext'],
          description: 'No run to steer: as QUEUE.',
        },
        INTERRUPT: { actions: 'bumpEpoch', description: 'Nothing to interrupt.' },
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
        FOREGROUND: {
          target: 'displacing',
          actions: ['bumpEpoch', 'holdClaimant', 'cancelActive'],
          description: 'A foreground run replaces whatever executes or is queued.',
        },
        QUEUE: { actions: 'enqueue', description: 'Waits for its turn.' },
        STEER: [
          { guard: 'takesInput', actions: 'deliver', description: 'Joins the running run at its next step.' },
          { actions: 'enqueue', description: 'The run is past its last step: as QUEUE.' },
        ],
        INTERRUPT: {
          actions: ['bumpEpoch', 'cancelActive'],
          description: 'Stops the run and drops the queue.',
        },
        RUN_ENDED: [
          { guard: 'hasQueued', actions: 'startNext', description: 'The next in the queue.' },
          { guard: 'hasOpenRun', target: 'waiting', description: 'Another run still waits.' },
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
        FOREGROUND: {
          actions: ['bumpEpoch', 'refuseClaimant', 'holdClaimant'],
          description: 'The newest foreground run wins; the one before is refused.',
        },
        QUEUE: { actions: 'enqueue', description: 'Waits for its turn.' },
        STEER: { actions: 'enqueue', description: 'The run is being cancelled: as QUEUE.' },
        INTERRUPT: {
          target: 'busy',
          actions: ['bumpEpoch', 'refuseClaimant'],
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
        releaseWait: {
          target: 'busy',
          actions: 'refuseClaimant',
          description: 'The old run does not let go.',
        },
      },
    },
    waiting: {
      description: 'The open run waits; nothing executes.',
      on: {
        FOREGROUND: [
          {
            guard: 'continuesOpenRun',
            target: 'busy',
            actions: 'continueRun',
            description: 'The same run goes on with the new input.',
          },
          {
            target: 'busy',
            actions: ['cancelOpen', 'startRun'],
            description: 'Another agent takes the thread.',
          },
        ],
        QUEUE: [
          {
            guard: 'continuesOpenRun',
            target: 'busy',
            actions: 'continueRun',
            description: 'The same run goes on with the new input.',
          },
          {
            target: 'busy',
            actions: ['enqueue', 'startNext'],
            description: 'Another agent; the open run waits on.',
          },
        ],
        STEER: [
          {
            guard: 'continuesOpenRun',
            target: 'busy',
            actions: 'continueRun',
            description: 'The same run goes on with the new input.',
          },
          {
            target: 'busy',
            actions: ['enqueue', 'startNext'],
            description: 'Another agent; the open run waits on.',
          },
        ],
        INTERRUPT: { target: 'idle', actions: ['bumpEpoch', 'cancelOpen'], description: 'The wait is over.' },
        RUN_ENDED: { target: 'idle', description: 'The waiting run was cancelled.' },
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
