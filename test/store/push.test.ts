import t from 'tap';
import { storeFor } from './open.ts';

const place = { scope: 's', task_id: 't1', id: 'c1' };
const target = {
  url: 'https://hooks.example/',
  token: 'tok',
  authentication: { scheme: 'Bearer', credentials: 'k' },
};
const SEEN = { state: 'TASK_STATE_SUBMITTED', timestamp: '2025-10-28T10:29:00.000Z' };
const event = (body: string) => ({ body, attempts: 0, available_at: 1 });

t.test('identifies a config by id and tenant, or without a tenant', async (t) => {
  const store = await storeFor(t);
  const batch = store.batch('commons');
  store.pushConfigs.put(batch, { ...place, ...target });
  store.pushConfigs.put(batch, { ...place, ...target, tenant: 'a', url: 'https://a.example/' });
  store.pushConfigs.put(batch, { ...place, ...target, id: 'c10' });
  await store.commit(batch);
  t.match(store.pushConfigs.get(place), { ...target, id: 'c1', tenant: undefined });
  t.match(store.pushConfigs.get({ ...place, tenant: 'a' }), { url: 'https://a.example/' });
  t.equal(
    store.pushConfigs.withId('s', 't1', 'c1').length,
    2,
    'an id with the same prefix is another config',
  );
  t.same(
    [...store.pushConfigs.list('s', 't1', place)].map(({ id, tenant }) => [id, tenant]),
    [
      ['c1', 'a'],
      ['c10', undefined],
    ],
  );
  t.same([...store.pushConfigs.list('other', 't1')], []);
});

t.test('seals credentials and URLs', async (t) => {
  const dir = t.testdir();
  const store = await storeFor(t, { dir, secretsKey: 'a key of the tests' });
  const batch = store.batch('commons');
  store.pushConfigs.put(batch, { ...place, ...target });
  await store.commit(batch);
  t.match(store.pushConfigs.get(place), target);
  await store.close();
  await t.rejects(storeFor(t, { dir }), /SERVICE_SECRETS_KEY/);
});

t.test(
  'returns the events of a config in the order in which they were added, also after a restart',
  async (t) => {
    const dir = t.testdir();
    const first = await storeFor(t, { dir });
    const batch = first.batch('commons');
    for (const body of ['1', '2']) first.pushOutbox.append(batch, place, event(body));
    first.pushOutbox.append(batch, { ...place, id: 'c10' }, event('other'));
    await first.commit(batch);
    await first.close();
    const store = await storeFor(t, { dir });
    const later = store.batch('commons');
    store.pushOutbox.append(later, place, event('3'));
    await store.commit(later);
    const seen: string[] = [];
    for (let next = store.pushOutbox.first(place); next; next = store.pushOutbox.first(place)) {
      seen.push(next.body);
      const removal = store.batch('commons');
      store.pushOutbox.remove(removal, place, next.order);
      await store.commit(removal);
    }
    t.same(seen, ['1', '2', '3']);
    t.equal(store.pushOutbox.count({ ...place, id: 'c10' }), 1);
  },
);

t.test('keeps abandoned events outside the queue until the config is cleared', async (t) => {
  const store = await storeFor(t);
  const batch = store.batch('commons');
  for (const body of ['1', '2']) store.pushOutbox.append(batch, place, event(body));
  store.pushOutbox.follow(batch, { place, mark: SEEN });
  await store.commit(batch);
  const dead = store.pushOutbox.first(place);
  const burial = store.batch('commons');
  if (dead) store.pushOutbox.bury(burial, place, { ...dead, attempts: 5 });
  await store.commit(burial);
  t.match(store.pushOutbox.first(place), { body: '2' });
  t.match(store.pushOutbox.buried(place), [{ body: '1', attempts: 5 }]);
  const end = store.batch('commons');
  store.pushOutbox.clear(end, place);
  await store.commit(end);
  t.same(
    [store.pushOutbox.buried(place), store.pushOutbox.count(place), store.pushOutbox.markOf(place)],
    [[], 0, undefined],
  );
});

t.test('lists the followed configs that a restart must read', async (t) => {
  const store = await storeFor(t);
  const other = { ...place, id: 'c2' };
  const mark = { state: 'TASK_STATE_WORKING', timestamp: '2025-10-28T10:30:00.000Z' };
  const batch = store.batch('commons');
  store.pushOutbox.follow(batch, { place, mark: SEEN });
  store.pushOutbox.follow(batch, { place: other, mark });
  await store.commit(batch);
  t.match(
    [...store.pushOutbox.followed()],
    [
      { place, mark: SEEN },
      { place: other, mark },
    ],
  );
  const done = store.batch('commons');
  store.pushOutbox.unfollow(done, place);
  await store.commit(done);
  t.match([...store.pushOutbox.followed()], [{ place: other }]);
});
