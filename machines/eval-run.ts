import { assign, fromPromise, setup } from 'xstate';

/**
 * One eval run, from the moment it is asked for until its record is finished. Which cells there are and how they are
 * played is the work of one service; what is written down is an item for each cell that has come to its end, so that
 * the work may be broken off at any time and taken up again, here or in another process, with the cells that have no
 * item.
 *
 * What the wire says of a run is a tag of its state.
 *
 * `host` is whatever the services need to do their work; the machine hands it on and never looks inside.
 */

export type EvalRunInput = { host: object };

export type EvalRunContext = EvalRunInput & {
  /** Nobody wants the cells that have no item yet. */
  cancelled: boolean;
  /** Why the run could not be written down. */
  error: unknown;
};

export type EvalRunMachineEvent = { type: 'CANCEL' } | { type: 'RELEASE' };

export type EvalRunTag = 'running' | 'cancelled' | 'done';

const service = () =>
  fromPromise<void, EvalRunContext>(() => Promise.reject(new Error('the service is bound by its owner')));

const release = { target: 'released', description: 'The service stops; the next start goes on.' } as const;

export const evalRunMachine = setup({
  types: {} as {
    context: EvalRunContext;
    events: EvalRunMachineEvent;
    input: EvalRunInput;
    tags: EvalRunTag;
  },
  actors: {
    /** Makes it durable that the run is to be made. */
    begin: service(),
    /** Plays the cells that have no item, until each has one that is durable, or is told to stop. */
    work: service(),
    /** Waits until nothing that was told to stop is under way. */
    settle: service(),
    /** Makes the end durable. */
    finish: service(),
    /** Gives a store that failed some time. */
    rest: service(),
  },
  guards: {
    isCancelled: ({ context }) => context.cancelled,
  },
  actions: {
    cancel: assign({ cancelled: true }),
    fail: assign({ error: (_, { error }: { error: unknown }) => error }),
  },
}).createMachine({
  id: 'eval-run',
  description:
    'A dataset played against a matrix of models, agents and variants, until every cell has an item.',
  context: ({ input }) => ({ ...input, cancelled: false, error: undefined }),
  initial: 'planned',
  states: {
    planned: {
      tags: ['running'],
      description: 'All checks have passed; the run is written down before any model is asked.',
      invoke: {
        src: 'begin',
        input: ({ context }) => context,
        onDone: [
          { guard: 'isCancelled', target: 'finishing', description: 'Nobody wants it any more.' },
          { target: 'running', description: 'It is durable.' },
        ],
        onError: {
          target: 'refused',
          actions: { type: 'fail', params: ({ event }) => ({ error: event.error }) },
          description: 'The store does not take it; whoever asked is told.',
        },
      },
      on: {
        CANCEL: { actions: 'cancel', description: 'Cancelled before it began.' },
        RELEASE: release,
      },
    },
    running: {
      tags: ['running'],
      description: 'Cells are played, several at a time; each has an item when it has come to its end.',
      invoke: {
        src: 'work',
        input: ({ context }) => context,
        onDone: { target: 'finishing', description: 'Every cell has its item.' },
        onError: { target: 'stuck', description: 'An item could not be written; its cell is played again.' },
      },
      on: {
        CANCEL: {
          target: 'cancelling',
          actions: 'cancel',
          description: 'Cells under way are told to stop; the items so far stay.',
        },
        RELEASE: release,
      },
    },
    stuck: {
      tags: ['running'],
      description: 'Gives the store time; no cell is played that could not be written down.',
      invoke: {
        src: 'rest',
        input: ({ context }) => context,
        onDone: { target: 'running', description: 'Goes on with the cells that have no item.' },
      },
      on: {
        CANCEL: {
          target: 'cancelling',
          actions: 'cancel',
          description: 'Nothing is under way; the items so far stay.',
        },
        RELEASE: release,
      },
    },
    cancelling: {
      tags: ['running'],
      description: 'Cells that were under way come to their end without an item.',
      invoke: {
        src: 'settle',
        input: ({ context }) => context,
        onDone: { target: 'finishing', description: 'Nothing is under way.' },
      },
      on: {
        RELEASE: release,
      },
    },
    finishing: {
      tags: ['running'],
      description: 'The end is written down, with how many passed.',
      invoke: {
        src: 'finish',
        input: ({ context }) => context,
        onDone: [
          { guard: 'isCancelled', target: 'cancelled', description: 'It ends with the items that it has.' },
          { target: 'done', description: 'It is finished.' },
        ],
        onError: { target: 'unwritten', description: 'The store failed.' },
      },
      on: {
        RELEASE: release,
      },
    },
    unwritten: {
      tags: ['running'],
      description: 'Gives the store time; nothing is played again for that.',
      invoke: {
        src: 'rest',
        input: ({ context }) => context,
        onDone: { target: 'finishing', description: 'Tries to write the end down again.' },
      },
      on: {
        RELEASE: release,
      },
    },
    done: {
      tags: ['done'],
      type: 'final',
      description: 'Every cell has its item, and the record is finished.',
    },
    cancelled: { tags: ['cancelled'], type: 'final', description: 'It has the items that it had by then.' },
    refused: { type: 'final', description: 'It was never written down, and nothing was played.' },
    released: { type: 'final', description: 'Not finished; whoever takes it up goes on.' },
  },
});
