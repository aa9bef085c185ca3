import t from 'tap';
import { z } from 'zod';
import { machines } from '../../machines/index.ts';
import { describeAll, describeMachine, transitionIds } from '../../src/diagrams/describe.ts';
import { MachineDescription } from '../../src/diagrams/description.ts';
import { guardName } from '../../src/diagrams/naming.ts';
import { AWKWARD, lampMachine } from './lamp.ts';

const lamp = describeMachine('lamp', lampMachine);
const stateOf = (path: string) => lamp.states.find((state) => state.path === path);

t.test('describes the whole catalog in its order', async (t) => {
  t.same(
    describeAll().map(({ name }) => name),
    Object.keys(machines),
  );
});

t.test('a description has the shape of the schema', async (t) => {
  for (const description of [...describeAll(), lamp]) {
    t.same(MachineDescription.parse(JSON.parse(JSON.stringify(description))), description, description.name);
  }
  t.match(z.toJSONSchema(MachineDescription), { $defs: { MachineDescription: { type: 'object' } } });
});

t.test('a machine with bound services has the same description as without them', async (t) => {
  const { run } = machines;
  t.same(describeMachine('run', run.provide({ delays: { retryDelay: 7 } })), describeMachine('run', run));
});

t.test('states are in document order and reference their parents', async (t) => {
  t.same(
    lamp.states.map(({ path, parent, type, initial }) => [path, parent, type, initial]),
    [
      ['off', null, 'atomic', null],
      ['on', null, 'parallel', null],
      ['on.light', 'on', 'compound', 'on.light.full'],
      ['on.light.full', 'on.light', 'atomic', null],
      ['on.light.none', 'on.light', 'final', null],
      ['on.heat', 'on', 'compound', 'on.heat.cold'],
      ['on.heat.cold', 'on.heat', 'atomic', null],
      ['on.heat.warm', 'on.heat', 'final', null],
      ['broken', null, 'final', null],
    ],
  );
  t.equal(lamp.initial, 'off');
});

t.test('a state has its tags, its services and its own actions, and none that XState adds', async (t) => {
  t.match(stateOf('off'), { description: 'Dark.', tags: ['created'] });
  t.same([stateOf('off')?.entry, stateOf('off')?.exit, stateOf('off')?.invokes], [[], [], []]);
  t.same([stateOf('on')?.entry, stateOf('on')?.exit], [['glow'], [AWKWARD, 'warn']]);
  t.same(stateOf('on')?.tags, ['running']);
  t.same(stateOf('on.light.full')?.invokes, [{ id: 'fader', src: 'fade' }]);
});

t.test('every transition is included, in words', async (t) => {
  t.same(
    lamp.transitions.map(({ from, event, guard, actions, to }) => [from, event, guard, actions, to]),
    [
      [null, 'BREAK', null, [], 'broken'],
      ['off', 'FLIP', 'level > 1', ['glow', AWKWARD], 'on'],
      ['off', 'FLIP', 'bright', ['warn'], null],
      ['off', 'FLIP', null, [], 'off'],
      ['off', 'after 250 ms', null, [], 'on'],
      ['off', 'after patience', null, [], 'broken'],
      ['on', 'done', null, [], 'off'],
      ['on.light.full', 'done.fade', null, [], 'on.light.none'],
      ['on.light.full', 'error.fade', null, [], 'broken'],
      ['on.heat.cold', 'always', null, [], 'on.heat.warm'],
    ],
  );
  t.same(
    lamp.transitions.slice(0, 3).map(({ description }) => description),
    ['It falls.', '', 'Not now.'],
  );
});

t.test('no two transitions of a machine have the same id', async (t) => {
  for (const { name, transitions } of [...describeAll(), lamp]) {
    t.equal(new Set(transitions.map(({ id }) => id)).size, transitions.length, name);
  }
});

t.test('the transitions that an actor takes are in the description', async (t) => {
  for (const [name, machine] of Object.entries(machines)) {
    const described = describeMachine(name, machine).transitions.map(({ id }) => id);
    t.same([...transitionIds(machine).values()], described, name);
  }
});

t.test('a guard of more than one expression is described by its name, or as inline', async (t) => {
  t.equal(
    guardName(function isLate() {
      return true;
    }),
    'isLate',
  );
  t.equal(guardName(Object.assign(() => true, { toString: () => '() => { return true; }' })), 'inline');
});

t.test('truncates an unnamed guard of more than 60 letters visibly', async (t) => {
  const told = (letters: number): string | null => {
    const text = `_ => ${'x'.repeat(letters)}`;
    return guardName(Object.assign(() => true, { toString: () => text }));
  };
  t.equal(told(60), 'x'.repeat(60));
  t.equal(told(61), `${'x'.repeat(59)}…`);
});

t.test('describes an unnamed guard in readable words', async (t) => {
  const guards = describeMachine('run', machines.run).transitions.map(({ guard }) => guard);
  t.ok(guards.includes('carriesDecisions'));
  for (const guard of guards) t.notMatch(guard ?? '', /=>|[{};"']|\n/);
});
