import t from 'tap';
import { readDefinition } from '../../src/programs/definition.ts';
import { stateOf } from '../../src/programs/state-of.ts';
import { wayOf } from '../../src/programs/way.ts';

/** Which transitions led from one state to the next, when only the event and both states are told. */

const machine = readDefinition(
  JSON.stringify({
    id: 'm',
    initial: 'a',
    on: { RESET: '.a', 'log.*': { actions: 'note' } },
    states: {
      a: { on: { GO: [{ guard: 'isFar', target: 'far' }, { target: 'b' }], STAY: {} } },
      b: { always: [{ guard: 'isLate', target: 'c' }], on: { GO: 'far' }, after: { 50: 'a' } },
      c: { always: 'done', on: { GO: 'b' } },
      far: { invoke: { src: 'walk', id: 'walk', onDone: 'both', onError: 'a' } },
      both: {
        type: 'parallel',
        states: {
          left: { initial: 'x', states: { x: { on: { BOTH: 'y' } }, y: {} } },
          right: { initial: 'x', states: { x: { on: { BOTH: 'y' } }, y: {} } },
        },
      },
      done: { on: { '*': 'a' } },
    },
  }),
  'unnamed',
);

const ids = (from: string, event: string, to: string): string[] =>
  wayOf(machine, { from, event, to }).map(({ id }) => id);

t.test('the transition is the one that takes the event and leads there', async (t) => {
  t.equal(machine?.description.name, 'm');
  t.strictSame(ids('a', 'GO', 'far'), ['a GO 0']);
  t.strictSame(ids('a', 'GO', 'b'), ['a GO 1'], 'of two with a guard, the one that fits');
  t.strictSame(ids('b', 'GO', 'far'), ['b GO 0']);
  t.strictSame(ids('far', 'xstate.done.actor.walk', 'both.left.x both.right.x'), ['far done.walk 0']);
  t.strictSame(ids('far', 'xstate.error.actor.walk', 'a'), ['far error.walk 0']);
  t.strictSame(ids('b', 'xstate.after.50.m.b', 'a'), ['b after 50 ms 0']);
  t.strictSame(ids('far', 'RESET', 'a'), ['* RESET 0'], 'of a state around it');
  t.strictSame(ids('done', 'ANYTHING', 'a'), ['done * 0']);
});

t.test('what follows of itself is told with it, and of regions each', async (t) => {
  t.strictSame(ids('a', 'GO', 'c'), ['a GO 1', 'b always 0']);
  t.strictSame(ids('a', 'GO', 'done'), ['a GO 1', 'b always 0', 'c always 0']);
  t.strictSame(ids('both.left.x both.right.x', 'BOTH', 'both.left.y both.right.y'), [
    'both.left.x BOTH 0',
    'both.right.x BOTH 0',
  ]);
});

t.test('an event that changes nothing is told when something takes it', async (t) => {
  t.strictSame(ids('a', 'STAY', 'a'), ['a STAY 0']);
  t.strictSame(ids('a', 'log.info', 'a'), ['* log.* 0']);
  t.strictSame(ids('a', 'logs', 'a'), []);
  t.strictSame(wayOf(undefined, { from: 'active', event: 'X', to: 'active' }), []);
});

t.test('a change that nothing explains is told without a transition', async (t) => {
  for (const to of ['far', 'nowhere'])
    t.strictSame(wayOf(machine, { from: 'c', event: 'LIE', to }), [{ id: '', event: 'LIE' }]);
  t.strictSame(wayOf(undefined, { from: 'on', event: 'X', to: 'off' }), [{ id: '', event: 'X' }]);
});

t.test('states are read from values of any form, and names keep their look', async (t) => {
  t.equal(stateOf({ value: 'a' }), 'a');
  t.equal(stateOf({ value: { a: { b: 'c', d: {} } } }), 'a.b.c a.d');
  t.equal(stateOf({ value: { 'in a room': 'v1.2' } }), 'in\u00a0a\u00a0room.v1\u20242');
  t.equal(stateOf({ status: 'done' }), 'done');
  t.equal(stateOf(undefined), 'active');
  t.equal(stateOf({ value: {} }), '');
  for (const value of [7, true, { a: 7 }, { a: null }]) t.equal(stateOf({ value }), undefined);
});

t.test('what has no states is no machine, and nothing of a definition is run', async (t) => {
  t.equal(readDefinition('{"id":"promise"}', 'x'), undefined);
  t.throws(() => readDefinition('7', 'x'), /not an object/);
  const unnamed = readDefinition('{"initial":"a","states":{"a":{"entry":[{"type":""}]}}}', 'x');
  t.match(unnamed?.description, { name: 'x', states: [{ path: 'a', entry: ['inline'] }] });
});
