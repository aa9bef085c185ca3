import { assign, fromPromise, setup } from 'xstate';

/** Machines of a program that is independent of the service. */

export const payment = setup({}).createMachine({
  id: 'payment',
  initial: 'asked',
  states: { asked: { on: { CONFIRM: 'paid' } }, paid: { type: 'final' } },
});

export const shop = setup({
  types: { context: {} as { secret: string; items: number } },
  actors: { payment, stock: fromPromise(() => new Promise<void>(() => {})) },
  guards: { isEmpty: ({ context }) => context.items === 0 },
}).createMachine({
  id: 'shop',
  description: 'A shop of somebody else.',
  context: { secret: 'sk-of-the-shop', items: 0 },
  initial: 'browsing the shelves',
  states: {
    'browsing the shelves': {
      tags: ['open'],
      on: {
        ADD: { actions: assign({ items: ({ context }) => context.items + 1 }) },
        CHECK: [{ guard: 'isEmpty', target: 'sent away' }, { target: 'checking' }],
      },
    },
    checking: { always: 'paying' },
    paying: {
      type: 'parallel',
      states: {
        money: {
          initial: 'due',
          states: {
            due: { invoke: { src: 'payment', id: 'payment', onDone: 'there' } },
            there: { type: 'final' },
          },
        },
        goods: {
          initial: 'shelf',
          invoke: { src: 'stock', id: 'stock' },
          states: { shelf: { on: { PACK: 'box' } }, box: { type: 'final' } },
        },
      },
      onDone: 'closed',
    },
    'sent away': { after: { 60000: 'browsing the shelves' } },
    closed: { type: 'final' },
  },
});
