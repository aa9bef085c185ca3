import { readdirSync } from 'node:fs';
import t from 'tap';
import { StateMachine } from 'xstate';
import { machines } from '../../machines/index.ts';
import { describeAll } from '../../src/statecharts/describe.ts';

const folder = new URL('../../machines/', import.meta.url);

t.test('every statechart of the folder is in the catalogue under its own id', async (t) => {
  const files = readdirSync(folder).filter((file) => file.endsWith('.ts') && file !== 'index.ts');
  const modules = await Promise.all(files.map((file): Promise<object> => import(new URL(file, folder).href)));
  const found = modules
    .flatMap((exported) => Object.values(exported))
    .filter((value) => value instanceof StateMachine);
  t.same(new Set(Object.values(machines)), new Set(found));
  for (const [name, machine] of Object.entries(machines)) t.equal(machine.id, name);
});

for (const { name, description, states, transitions } of describeAll()) {
  t.test(`${name} says what it is for`, async (t) => {
    t.not(description, '');
  });

  t.test(`every state of ${name} has a description`, async (t) => {
    t.same(
      states.filter((state) => state.description === '').map(({ path }) => path),
      [],
    );
  });

  t.test(`every transition of ${name} has a description`, async (t) => {
    t.same(
      transitions.filter((transition) => transition.description === '').map(({ id }) => id),
      [],
    );
  });
}
