import { assign, fromPromise, setup } from 'xstate';

/**
 * One eval run, from its request until its record is finished. One service determines the cells and executes them; an
 * item is stored for each finished cell, so the work can be interrupted at any time and resumed, here or in another
 * process, with the cells that have no item.
 *
 * The wire status of a run is a tag of its state.
 *
 * The machine never reads `host`; it only passes it on to the services.
 */

export type EvalRunInput = { host: object };

export type EvalRunContext = EvalRunInput & {
  /** Cells without an item are no longer needed. */
  cancelled: boolean;
  /** Why the run could not be stored. */
  error: unknown;
};

export type EvalRunMachineEvent = { type: 'CANCEL' } | { type: 'RELEASE' };

export type EvalRunTag = 'running' | 'cancelled' | 'done';

const service = () =>
  fromPromise<void, EvalRunContext>(() => Promise.reject(new Error('the service is bound by its owner')));

const release = {
  target: 'released',
  description: 'The service stops; the next start resumes the eval run.',
} as const;

/**
 * One eval run, from its request until its record is finished (evals-and-traces.md 6). Tags of its states are its
 * status on the wire.
 *
 * @example
 * ```ts
 * for (const { key, tags } of Object.values(evalRunMachine.states)) console.log(key, tags);
 * ```
 */
export const evalRunMachine = setup({
  types: {} as {
    context: EvalRunContext;
    events: EvalRunMachineEvent;
    input: EvalRunInput;
    tags: EvalRunTag;
  },
  actors: {
    /** Stores the planned run. */
    begin: service(),
    /** Executes the cells without an item until each has a durable one, or until it is stopped. */
    work: service(),
    /** Waits until all stopped work has ended. */
    settle: service(),
    /** Stores the end of the run. */
    finish: service(),
    /** Waits before the next attempt after a store failure. */
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
    'Execution of a dataset against a matrix of models, agents and variants, until every cell has an item.',
  context: ({ input }) => ({ ...input, cancelled: false, error: undefined }),
  initial: 'planned',
  states: {
    planned: {
      tags: ['running'],
      description: 'All checks passed; the record is written before any model is called.',
      invoke: {
        src: 'begin',
        input: ({ context }) => context,
        onDone: [
          {
            guard: 'isCancelled',
            target: 'finishing',
            description: 'Cancelled before its record is durable.',
          },
          { target: 'running', description: 'The record is durable.' },
        ],
        onError: {
          target: 'refused',
          actions: { type: 'fail', params: ({ event }) => ({ error: event.error }) },
          description: 'The store rejected the record; the caller gets the error.',
        },
      },
      on: {
        CANCEL: { actions: 'cancel', description: 'Cancelled before any cell started.' },
        RELEASE: release,
      },
    },
    running: {
      tags: ['running'],
      description: 'Cells execute concurrently; each one that ends has an item.',
      invoke: {
        src: 'work',
        input: ({ context }) => context,
        onDone: { target: 'finishing', description: 'Every cell has its item.' },
        onError: {
          target: 'stuck',
          description: 'An item could not be written; its cell is executed again.',
        },
      },
      on: {
        CANCEL: {
          target: 'cancelling',
          actions: 'cancel',
          description: 'Executing cells are aborted; written items are kept.',
        },
        RELEASE: release,
      },
    },
    stuck: {
      tags: ['running'],
      description: 'Waits for the store; no cell starts while its item could not be written.',
      invoke: {
        src: 'rest',
        input: ({ context }) => context,
        onDone: { target: 'running', description: 'Executes the cells that have no item.' },
      },
      on: {
        CANCEL: {
          target: 'cancelling',
          actions: 'cancel',
          description: 'No cell is executing; written items are kept.',
        },
        RELEASE: release,
      },
    },
    cancelling: {
      tags: ['running'],
      description: 'Executing cells end without an item.',
      invoke: {
        src: 'settle',
        input: ({ context }) => context,
        onDone: { target: 'finishing', description: 'No cell is executing.' },
      },
      on: {
        RELEASE: release,
      },
    },
    finishing: {
      tags: ['running'],
      description: 'The end is written with the number of passed items.',
      invoke: {
        src: 'finish',
        input: ({ context }) => context,
        onDone: [
          {
            guard: 'isCancelled',
            target: 'cancelled',
            description: 'Cancelled; the written items are kept.',
          },
          { target: 'done', description: 'The record is finished.' },
        ],
        onError: { target: 'unwritten', description: 'The store failed.' },
      },
      on: {
        RELEASE: release,
      },
    },
    unwritten: {
      tags: ['running'],
      description: 'Waits for the store; no cell is executed again.',
      invoke: {
        src: 'rest',
        input: ({ context }) => context,
        onDone: { target: 'finishing', description: 'Writes the end again.' },
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
    cancelled: {
      tags: ['cancelled'],
      type: 'final',
      description: 'Cancelled with the items written so far.',
    },
    refused: { type: 'final', description: 'The record was never written and no cell was executed.' },
    released: { type: 'final', description: 'Not finished; the next start resumes it.' },
  },
});
