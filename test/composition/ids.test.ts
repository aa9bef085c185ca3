import t from 'tap';
import { createIds } from '../../src/composition/ids.ts';

t.test('ids are distinct and increasing UUIDv7', async (t) => {
  const ids = createIds();
  const made = Array.from({ length: 5000 }, () => ids.uuid());
  t.equal(new Set(made).size, made.length);
  t.strictSame(made, [...made].sort());
  for (const id of made) t.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  const age = Date.now() - Number.parseInt((made[0] ?? '').slice(0, 13).replace('-', ''), 16);
  t.ok(age >= 0 && age < 60_000, 'the first 48 bits are the time');
});
