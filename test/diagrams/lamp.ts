import { createMachine, setup } from 'xstate';

/** Contains every character that has a meaning in a drawing. */
export const AWKWARD = 'count: "<9>" & {50%}; #1';

/** A machine with one of every feature that the catalog's machines may use, and awkward texts. */
export const lampMachine = setup({
  types: {} as { events: { type: 'FLIP'; level: number } | { type: 'BREAK' } | { type: 'DIM' } },
  actors: { fade: createMachine({}) },
  actions: { glow: () => {}, [AWKWARD]: () => {}, warn: () => {} },
  guards: { bright: () => true },
  delays: { patience: 10 },
}).createMachine({
  id: 'lamp',
  description: 'A lamp: "on" & <off>; 100%.',
  initial: 'off',
  on: { BREAK: { target: '.broken', description: 'It falls.' } },
  states: {
    off: {
      description: 'Dark.',
      tags: ['created'],
      on: {
        FLIP: [
          { guard: ({ event }) => event.level > 1, target: 'on', actions: ['glow', AWKWARD] },
          { guard: { type: 'bright' }, actions: 'warn', description: 'Not now.' },
          { target: 'off' },
        ],
      },
      after: { 250: 'on', patience: { target: 'broken' } },
    },
    on: {
      tags: ['running'],
      type: 'parallel',
      entry: 'glow',
      exit: [AWKWARD, 'warn'],
      onDone: 'off',
      states: {
        light: {
          initial: 'full',
          states: {
            full: { invoke: { src: 'fade', id: 'fader', onDone: 'none', onError: '#lamp.broken' } },
            none: { type: 'final' },
          },
        },
        heat: { initial: 'cold', states: { cold: { always: 'warm' }, warm: { type: 'final' } } },
      },
    },
    broken: { type: 'final' },
  },
});
