import { readdirSync, readFileSync } from 'node:fs';
import t from 'tap';
import { machines } from '../../machines/index.ts';
import { describeAll } from '../../src/diagrams/describe.ts';

const folder = new URL('../../machines/', import.meta.url);

t.test('lists every statechart of the folder under its id', async (t) => {
  const sources = readdirSync(folder).map((file) => readFileSync(new URL(file, folder), 'utf8'));
  const made = sources.flatMap((text) => [...text.matchAll(/\bcreateMachine\(\{\s*id: '([^']+)'/g)]);
  t.same(new Set(Object.keys(machines)), new Set(made.map(([, id]) => id)));
  t.equal(sources.join().split('createMachine(').length - 1, made.length, 'every machine has an id');
  for (const [name, machine] of Object.entries(machines)) t.equal(machine.id, name);
});

for (const { name, description, states, transitions } of describeAll()) {
  t.test(`${name} has a description`, async (t) => {
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
