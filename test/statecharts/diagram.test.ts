import t from 'tap';
import { describeMachine } from '../../src/statecharts/describe.ts';
import { activitiesOf, actsAnywhere, arrowsOf, explain } from '../../src/statecharts/diagram.ts';
import { AWKWARD, lampMachine } from './lamp.ts';

const lamp = describeMachine('lamp', lampMachine);

t.test('transitions between the same two states share an arrow, in their order', async (t) => {
  const arrow = arrowsOf(lamp).find(({ from, to }) => from === 'off' && to === 'on');
  t.same(arrow?.lines, [`FLIP [level > 1] / glow, ${AWKWARD}`, 'after 250 ms']);
});

t.test('an arrow says what each of its transitions is for', async (t) => {
  const arrow = arrowsOf(lamp).find(({ from }) => from === null);
  t.same(arrow, { from: null, to: 'broken', lines: ['BREAK'], descriptions: ['BREAK: It falls.'] });
});

t.test('a transition without description is told by its line alone', async (t) => {
  const arrow = arrowsOf(lamp).find(({ to }) => to === 'on.light.none');
  t.same(arrow?.descriptions, ['done.fade']);
});

t.test('a state shows what it does by itself, in the order in which it does it', async (t) => {
  const activities = Object.fromEntries(lamp.states.map((state) => [state.path, activitiesOf(lamp, state)]));
  t.same(activities.off, ['FLIP [bright] / warn']);
  t.same(activities.on, ['entry / glow', `exit / ${AWKWARD}, warn`]);
  t.same(activities['on.light.full'], ['do / fade']);
  t.same(activities.broken, []);
});

t.test(
  'a state says what it is for, and what each event is for that it takes without being left',
  async (t) => {
    const [off] = lamp.states;
    t.equal(off && explain(lamp, off), 'Dark.\nFLIP [bright] / warn: Not now.');
  },
);

t.test('a machine that can be left from every state says so', async (t) => {
  t.equal(actsAnywhere(lamp), true);
  t.equal(actsAnywhere({ ...lamp, transitions: lamp.transitions.slice(1) }), false);
});
