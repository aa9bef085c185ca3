import t from 'tap';
import { CALLER, startPlane } from './plane.ts';

/** The audit log: config.md 9 and checks 49 to 51. */

const DAY = 86_400_000;

t.test('assigns increasing ids that contain the time of the event', async (t) => {
  const now = Date.UTC(2026, 0, 2, 3, 4, 5, 6);
  const { create, agent, events, counts } = await startPlane(t, { now: () => now });
  for (const id of ['a', 'b', 'c']) await create('agents', agent(id));
  const all = events();
  const ids = all.map(({ id }) => id);
  t.equal(new Set(ids).size, 4);
  t.strictSame(ids, [...ids].sort());
  for (const { ts } of all) t.equal(ts, '2026-01-02T03:04:05.006Z');
  t.equal(counts.events, 4);
});

t.test('returns disjoint pages, the last one without a cursor', async (t) => {
  const { create, agent, service } = await startPlane(t);
  for (let n = 0; n < 5; n += 1) await create('agents', agent(`a${n}`));
  const seen: string[] = [];
  let cursor: string | undefined;
  do {
    const page = service.audit.page({ resource: 'agents', limit: 2, ...(cursor && { cursor }) });
    seen.push(...page.items.map(({ resource }) => resource));
    cursor = page.next_cursor;
  } while (cursor);
  t.strictSame(seen, ['agents/a4', 'agents/a3', 'agents/a2', 'agents/a1', 'agents/a0']);
  t.equal(service.audit.page({ limit: 0 }).items.length, 1);
  for (const bad of ['not-base64-!!!', '', Buffer.from('x').toString('base64url')]) {
    t.throws(() => service.audit.page({ cursor: bad }), { name: 'Invalid', message: 'invalid cursor' });
  }
});

t.test('removes old events at startup and periodically', async (t) => {
  let now = Date.UTC(2026, 0, 1);
  const plane = await startPlane(t, { now: () => now, audit: { retention_days: 2 } });
  await plane.create('agents', plane.agent('a'));
  now += DAY;
  await plane.create('agents', plane.agent('b'));
  now += DAY + 1;
  await plane.restart();
  while (plane.counts.pruned === 0) await new Promise(setImmediate);
  t.strictSame(
    plane.events().map(({ resource }) => resource),
    ['agents/b'],
  );
  t.equal(plane.counts.pruned, 2);
});

t.test('applies a change whose event cannot be written', async (t) => {
  const plane = await startPlane(t);
  const seen = plane.events().length;
  await plane.service.create('agents', plane.agent('a'), { ...CALLER, actor: 'x'.repeat(600) });
  t.match(plane.live.resolve('a'), { spec: { id: 'a' } });
  t.equal(plane.events().length, seen);
  t.equal(plane.counts.failures, 1);
  t.match(plane.warnings, ['audit.write_failed']);
});

t.test('works without an audit log', async (t) => {
  const plane = await startPlane(t, { audit: { enabled: false } });
  await plane.create('agents', plane.agent('a'));
  await t.rejects(plane.put('agents', plane.agent('a', { model_id: 'gone' })), { name: 'Invalid' });
  await plane.service.audit.record({ action: 'restart', resource: 'mcp-servers/x' }, CALLER);
  t.strictSame(plane.store.audit.page({ limit: 10 }).items, []);
  t.strictSame(plane.counts, { events: 0, failures: 0, pruned: 0 });
});

t.test('writes no secret to an event', async (t) => {
  const plane = await startPlane(t);
  await plane.create('providers', { id: 'x', adapter: 'groq', api_key: 'sk-secret' });
  await t.rejects(plane.put('providers', { id: 'x', adapter: 'nope', api_key: 'sk-secret' }));
  await plane.create('mcp-servers', {
    id: 's',
    transport: 'http',
    url: 'https://u:sk-secret@h/',
    env: { A: 'sk-secret' },
    config: { headers: { 'X-Key': 'sk-secret' } },
  });
  await plane.remove('mcp-servers', 's');
  t.equal(plane.events().length, 5);
  t.notMatch(JSON.stringify(plane.events()), 'sk-secret');
});
