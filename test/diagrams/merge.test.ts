import t from 'tap';
import { createMachine } from 'xstate';
import { describeMachine } from '../../src/diagrams/describe.ts';
import { pictureOf } from '../../src/diagrams/diagram.ts';

/** A journey: `trip` and its inner states, with the transitions under test. */
const arrowsOf = (by: { walking?: object; riding?: object; trip?: object; resting?: object }) => {
  const machine = createMachine({
    id: 'journey',
    initial: 'trip',
    states: {
      trip: {
        initial: 'walking',
        on: { ...by.trip },
        states: {
          walking: { on: { ...by.walking } },
          riding: { on: { ...by.riding } },
          resting: { on: { ...by.resting } },
          over: { type: 'final' },
        },
      },
      home: { type: 'final' },
      lost: { type: 'final' },
    },
  });
  return pictureOf(describeMachine('journey', machine)).arrows.map(({ from, to, inward, lines }) => ({
    from,
    to,
    inward,
    lines: lines.map(({ text, where }) => (where.length ? `${text} in ${where.join(', ')}` : text)),
  }));
};

const HOME = { ARRIVE: '#journey.home' };

t.test(
  'draws transitions that some inner states share once, from their parent, and names the states',
  async (t) => {
    t.same(arrowsOf({ walking: HOME, riding: HOME }), [
      { from: 'trip', to: 'home', inward: false, lines: ['ARRIVE in walking, riding'] },
    ]);
  },
);

t.test('transitions that all inner states share need no names', async (t) => {
  t.same(arrowsOf({ walking: HOME, riding: HOME, resting: HOME }), [
    { from: 'trip', to: 'home', inward: false, lines: ['ARRIVE'] },
  ]);
});

t.test('the own transitions of the parent are on the same arrow', async (t) => {
  t.same(arrowsOf({ walking: HOME, riding: HOME, trip: { TELEPORT: '#journey.home' } }), [
    { from: 'trip', to: 'home', inward: false, lines: ['TELEPORT', 'ARRIVE in walking, riding'] },
  ]);
});

t.test('transitions with different actions or guards are not shared', async (t) => {
  const shouting = { ARRIVE: { target: '#journey.home', actions: function shout() {} } };
  const guarded = { ARRIVE: { target: '#journey.home', guard: 'isOpen' } };
  for (const other of [shouting, guarded]) {
    t.same(
      arrowsOf({ walking: HOME, riding: other }).map(({ from }) => from),
      ['trip.walking', 'trip.riding'],
    );
  }
});

t.test('moves no transition to the parent if that removes no arrow', async (t) => {
  const also = { ...HOME, RETURN: '#journey.home' };
  const back = { ...HOME, FLEE: '#journey.home' };
  t.same(arrowsOf({ walking: also, riding: back }), [
    { from: 'trip.walking', to: 'home', inward: false, lines: ['ARRIVE, RETURN'] },
    { from: 'trip.riding', to: 'home', inward: false, lines: ['ARRIVE, FLEE'] },
  ]);
});

t.test('two states that lead to a third sibling keep their arrows, three do not', async (t) => {
  const rest = { REST: '#journey.trip.resting' };
  t.same(
    arrowsOf({ walking: rest, riding: rest }).map(({ from }) => from),
    ['trip.walking', 'trip.riding'],
  );
  const machine = createMachine({
    id: 'week',
    initial: 'monday',
    states: {
      monday: { on: { REST: 'sunday' } },
      tuesday: { on: { REST: 'sunday' } },
      friday: { on: { REST: 'sunday' } },
      saturday: {},
      sunday: {},
    },
  });
  t.match(pictureOf(describeMachine('week', machine)).arrows, [
    { from: null, to: 'sunday', inward: true, lines: [{ where: ['monday', 'tuesday', 'friday'] }] },
  ]);
});

t.test('a state and its ancestor share no transitions', async (t) => {
  t.same(
    arrowsOf({ trip: HOME, walking: HOME }).map(({ from }) => from),
    ['trip', 'trip.walking'],
  );
  t.same(
    arrowsOf({ trip: HOME, walking: HOME, riding: HOME }).map(({ from }) => from),
    ['trip', 'trip.walking', 'trip.riding'],
  );
});

t.test('events with the same guard and the same actions share a line', async (t) => {
  const [arrow] = arrowsOf({ walking: { ARRIVE: '#journey.home', RETURN: '#journey.home' } });
  t.same(arrow?.lines, ['ARRIVE, RETURN']);
});
