import t from 'tap';
import { readDefinition } from '../../src/programs/definition.ts';
import { inferTransitions } from '../../src/programs/infer-transitions.ts';
import { stateOf } from '../../src/programs/state-of.ts';

/** Derives the transitions between two states from the event and both states. */

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
  inferTransitions(machine, { from, event, to }).map(({ id }) => id);

t.test('the transition is the one with this event and this target', async (t) => {
  t.equal(machine?.description.name, 'm');
  t.strictSame(ids('a', 'GO', 'far'), ['a GO 0']);
  t.strictSame(ids('a', 'GO', 'b'), ['a GO 1'], 'the guarded transition with this target is chosen');
  t.strictSame(ids('b', 'GO', 'far'), ['b GO 0']);
  t.strictSame(ids('far', 'xstate.done.actor.walk', 'both.left.x both.right.x'), ['far done.walk 0']);
  t.strictSame(ids('far', 'xstate.error.actor.walk', 'a'), ['far error.walk 0']);
  t.strictSame(ids('b', 'xstate.after.50.m.b', 'a'), ['b after 50 ms 0']);
  t.strictSame(ids('far', 'RESET', 'a'), ['* RESET 0'], 'the transition of an ancestor is found');
  t.strictSame(ids('done', 'ANYTHING', 'a'), ['done * 0']);
});

t.test('includes the eventless transitions that follow, and those of each region', async (t) => {
  t.strictSame(ids('a', 'GO', 'c'), ['a GO 1', 'b always 0']);
  t.strictSame(ids('a', 'GO', 'done'), ['a GO 1', 'b always 0', 'c always 0']);
  t.strictSame(ids('both.left.x both.right.x', 'BOTH', 'both.left.y both.right.y'), [
    'both.left.x BOTH 0',
    'both.right.x BOTH 0',
  ]);
});

t.test('an event without a state change is reported if a transition accepts it', async (t) => {
  t.strictSame(ids('a', 'STAY', 'a'), ['a STAY 0']);
  t.strictSame(ids('a', 'log.info', 'a'), ['* log.* 0']);
  t.strictSame(ids('a', 'logs', 'a'), []);
  t.strictSame(inferTransitions(undefined, { from: 'active', event: 'X', to: 'active' }), []);
});

t.test('an unexplained change is reported without a transition', async (t) => {
  for (const to of ['far', 'nowhere'])
    t.strictSame(inferTransitions(machine, { from: 'c', event: 'LIE', to }), [{ id: '', event: 'LIE' }]);
  t.strictSame(inferTransitions(undefined, { from: 'on', event: 'X', to: 'off' }), [{ id: '', event: 'X' }]);
});

t.test('parses states from values of any form, and keeps names readable', async (t) => {
  t.equal(stateOf({ value: 'a' }), 'a');
  t.equal(stateOf({ value: { a: { b: 'c', d: {} } } }), 'a.b.c a.d');
  t.equal(stateOf({ value: { 'in a room': 'v1.2' } }), 'in\u00a0a\u00a0room.v1\u20242');
  t.equal(stateOf({ status: 'done' }), 'done');
  t.equal(stateOf(undefined), 'active');
  t.equal(stateOf({ value: {} }), '');
  for (const value of [7, true, { a: 7 }, { a: null }]) t.equal(stateOf({ value }), undefined);
});

t.test('ignores a definition without states, and executes no part of a definition', async (t) => {
  t.equal(readDefinition('{"id":"promise"}', 'x'), undefined);
  t.throws(() => readDefinition('7', 'x'), /not an object/);
  const unnamed = readDefinition('{"initial":"a","states":{"a":{"entry":[{"type":""}]}}}', 'x');
  t.match(unnamed?.description, { name: 'x', states: [{ path: 'a', entry: ['inline'] }] });
});
