import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { openStore } from '../../src/store/index.ts';
import { ROOT } from '../run/places.ts';

t.test('names every table of the store on its page', async (t) => {
  const store = await openStore({ dir: join(t.testdir(), 'data'), durability: 'process' });
  t.teardown(() => store.close());
  const page = readFileSync(join(ROOT, 'src/docs/design/store.md'), 'utf8');
  const tables = Object.keys(store.stats().rows);
  t.ok(tables.length > 20);
  t.strictSame(
    tables.filter((name) => !page.includes(`\`${name}\``)),
    [],
  );
});
