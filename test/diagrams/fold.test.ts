import t from 'tap';
import { describeAll, describeMachine } from '../../src/diagrams/describe.ts';
import { pictureOf } from '../../src/diagrams/diagram.ts';
import { foldedIn } from '../../src/diagrams/fold.ts';
import { NotFound } from '../../src/schema/outcome.ts';
import { lampMachine } from './lamp.ts';

const lamp = describeMachine('lamp', lampMachine);
const machineOf = (name: string) => describeAll().find((machine) => machine.name === name) ?? lamp;

t.test('draws the requested number of levels', async (t) => {
  t.same([...foldedIn(lamp, { depth: 1 })], ['on']);
  t.same([...foldedIn(lamp, { depth: 2 })], ['on.light', 'on.heat']);
  t.same([...foldedIn(lamp, { depth: 3 })], []);
});

t.test('folds the requested states, and no others', async (t) => {
  t.same([...foldedIn(lamp, { states: ['on.heat'] })], ['on.heat']);
  t.throws(() => foldedIn(lamp, { states: ['on.fire'] }), NotFound);
  t.throws(() => foldedIn(lamp, { states: ['on.fire'] }), {
    message: /^unknown state 'on\.fire' of 'lamp': one of off, on, on\.light, /,
  });
});

t.test('a small machine folds nothing by default', async (t) => {
  for (const machine of [lamp, machineOf('dispatch'), machineOf('tool-call')])
    t.same([...foldedIn(machine, 'large')], [], machine.name);
});

t.test('every machine folds until its arrows can be read at a glance', async (t) => {
  for (const machine of describeAll()) {
    const { arrows } = pictureOf(machine, foldedIn(machine, 'large'));
    t.ok(arrows.length <= 42, `${machine.name}: ${arrows.length}`);
  }
});

t.test(
  'the run has half as many arrows as connected pairs of states, and its main states stay open',
  async (t) => {
    const run = machineOf('run');
    const pairs = new Set(
      run.transitions.filter(({ to }) => to !== null).map(({ from, to }) => `${from} ${to}`),
    );
    t.ok(pictureOf(run).arrows.length <= pairs.size * 0.6, 'whole');
    const folded = pictureOf(run, foldedIn(run, 'large'));
    t.ok(folded.arrows.length <= pairs.size / 2, 'folded');
    t.ok(folded.states.find(({ state }) => state.path === 'running')?.open);
  },
);

t.test('states of the thread with many events list a few of them', async (t) => {
  const thread = machineOf('thread');
  for (const { state, activities } of pictureOf(thread, foldedIn(thread, 'large')).states)
    t.ok(activities.length <= 8, state.path);
});
