import { join } from 'node:path';
import t from 'tap';
import { AuditAction, type AuditEvent } from '../../src/schema/audit-event.ts';
import { Invalid } from '../../src/schema/outcome.ts';
import type { AuditQuery, Store } from '../../src/store/index.ts';
import fc from '../random.ts';
import { auditEvent, ulidAt } from './config-rows.ts';
import { storeFor } from './open.ts';
import { write } from './records.ts';

const START = 1765000400000;

const put = (store: Store, events: readonly AuditEvent[]): Promise<void> =>
  write(store, (batch) => {
    for (const event of events) store.audit.put(batch, event);
  });

const prune = async (store: Store, before: number, max = 100_000): Promise<number> => {
  const batch = store.batch('commons');
  const removed = store.audit.prune(batch, before, max);
  await store.commit(batch);
  return removed;
};

t.test('reads an event back with all optional fields', async (t) => {
  const store = await storeFor(t);
  const id = ulidAt(START, 1);
  const full = auditEvent(id, {
    action: 'apply_failed',
    before: { id: 'a' },
    after: { id: 'a', sections: { x: null } },
    overrides: {},
    error: 'unsupported provider adapter',
    forced: true,
    request_id: 'r1',
    restored_from: ulidAt(START, 0),
  });
  await put(store, [full, auditEvent(ulidAt(START, 2))]);
  t.strictSame(store.audit.get(id), full);
  t.strictSame(store.audit.get(ulidAt(START, 2)), auditEvent(ulidAt(START, 2)));
  t.equal(store.audit.get(ulidAt(START, 3)), undefined);
  t.equal(store.audit.get('../etc'), undefined);
});

t.test('rejects an id that is not a ULID, when storing and as a cursor', async (t) => {
  const store = await storeFor(t);
  for (const id of ['', 'x', '01ARZ3NDEKTSV4RRFFQ69G5FAI', `${ulidAt(1, 1)}0`]) {
    t.throws(() => store.audit.put(store.batch('commons'), auditEvent(id)), Invalid);
    t.throws(() => store.audit.page({ limit: 1, before: id }), { message: 'invalid cursor' });
  }
});

/** The expected page, computed from all events. */
const naive = (events: readonly AuditEvent[], query: AuditQuery): AuditEvent[] => {
  const { resource, action, actor = '', since, until, before } = query;
  return events
    .filter((event) => resource === undefined || `${event.resource}/`.startsWith(`${resource}/`))
    .filter((event) => action === undefined || event.action === action)
    .filter((event) => event.actor.startsWith(actor))
    .filter((event) => since === undefined || timeOf(event) >= since)
    .filter((event) => until === undefined || timeOf(event) < until)
    .filter((event) => before === undefined || event.id < before)
    .toSorted((a, b) => (a.id < b.id ? 1 : -1));
};

const timeOf = (event: AuditEvent): number => Date.parse(event.ts);

const walk = (store: Store, query: AuditQuery): AuditEvent[][] => {
  const pages: AuditEvent[][] = [];
  let before = query.before;
  do {
    const page = store.audit.page({ ...query, ...(before !== undefined && { before }) });
    pages.push(page.items);
    before = page.next;
  } while (before !== undefined);
  return pages;
};

const RESOURCES = [
  'agents',
  'agents/a',
  'agents/a/b',
  'agents/ab',
  'agentsX',
  'tools/x//y',
  'ä/ö',
  '/',
  'seed:created',
];
const ACTORS = ['anonymous', 'ab12', 'ab12/ci', 'ab12/ci/deploy', 'ab13', 'ab1', 'system:seed', 'ab12 x'];

const time = fc.integer({ min: START, max: START + 12 });
const anEvent = fc.record({
  at: time,
  nth: fc.integer({ min: 0, max: 1000 }),
  resource: fc.constantFrom(...RESOURCES),
  action: fc.constantFrom(...AuditAction.options.slice(0, 3)),
  actor: fc.constantFrom(...ACTORS),
});

const aQuery: fc.Arbitrary<AuditQuery> = fc.record(
  {
    resource: fc.constantFrom(...RESOURCES, 'tools', 'tools/x', 'tools/x/', 'agents/', '', 'none'),
    action: fc.constantFrom(...AuditAction.options.slice(0, 4)),
    actor: fc.constantFrom(...ACTORS, '', 'a', 'ab', 'ab12/', 'zz', '\n', 'system'),
    since: fc.oneof(time, fc.constantFrom(0, START + 3.5, -1)),
    until: fc.oneof(time, fc.constantFrom(START + 3.5, 2 ** 52, Number.POSITIVE_INFINITY)),
    before: fc.tuple(time, fc.integer({ min: 0, max: 1000 })).map(([at, nth]) => ulidAt(at, nth)),
    limit: fc.integer({ min: 1, max: 6 }),
  },
  { requiredKeys: ['limit'] },
);

t.test('returns the matching events in pages, newest first, each once', async (t) => {
  const store = await storeFor(t);
  const givenEvents = fc.uniqueArray(anEvent, { maxLength: 40, selector: ({ at, nth }) => `${at} ${nth}` });
  await fc.assert(
    fc.asyncProperty(
      givenEvents,
      fc.array(aQuery, { minLength: 5, maxLength: 15 }),
      async (given, queries) => {
        const events = given.map(({ at, nth, ...fields }) =>
          auditEvent(ulidAt(at, nth), { ...fields, ts: new Date(at).toISOString() }),
        );
        await put(store, events);
        const found = queries.map((query) => walk(store, query));
        const removed = await prune(store, START + 100);
        for (const [index, query] of queries.entries()) {
          const pages = found[index] ?? [];
          t.strictSame(pages.flat(), naive(events, query), JSON.stringify(query));
          t.ok(pages.slice(0, -1).every(({ length }) => length === query.limit));
          t.ok(pages.length === 1 || pages.at(-1)?.length !== 0, 'no page except the first is empty');
        }
        t.equal(removed, events.length);
      },
    ),
    { numRuns: 100 },
  );
});

t.test('prunes older events, oldest first, with all their index entries', async (t) => {
  const store = await storeFor(t);
  const at = (ms: number, nth = 0) =>
    auditEvent(ulidAt(START + ms, nth), { resource: `agents/a${ms}/x`, actor: `actor${ms}` });
  await put(store, [at(0), at(1), at(1, 1), at(2), at(3)]);
  t.equal(await prune(store, START + 2, 2), 2);
  t.strictSame(store.audit.page({ limit: 9 }).items, [at(3), at(2), at(1, 1)]);
  t.equal(await prune(store, START + 2, 2), 1);
  t.equal(await prune(store, START + 2, 2), 0);
  t.strictSame(store.audit.page({ limit: 9 }).items, [at(3), at(2)]);
  const before = store.reads;
  for (const filter of [{ resource: 'agents/a1' }, { resource: 'agents/a1/x' }, { actor: 'actor1' }]) {
    t.strictSame(store.audit.page({ ...filter, limit: 9 }).items, []);
  }
  t.ok(store.reads - before <= 3, 'a second call finds nothing to prune');
});

const LIMIT = 10;
const RARE = 5;

/** This many events; every filter in use finds more than a page, and `rare` only a few old ones. */
const filled = async (store: Store, count: number): Promise<void> => {
  const events = Array.from({ length: count }, (_, n) =>
    auditEvent(ulidAt(START + n, n), {
      resource: n < RARE ? 'skills/rare' : `agents/a${n % 3}`,
      action: n % 2 === 0 ? 'create' : 'update',
      actor: n % 2 === 0 ? `even/${n % 4}` : 'odd',
    }),
  );
  await put(store, events);
};

t.test('reads only the events that a page shows', async (t) => {
  const dir = t.testdir();
  const small = await storeFor(t, { dir: join(dir, 'small') });
  const large = await storeFor(t, { dir: join(dir, 'large') });
  await filled(small, 100);
  await filled(large, 2000);
  const cost = (store: Store, query: Omit<AuditQuery, 'limit'>, shown: number): number => {
    const before = store.reads;
    t.equal(store.audit.page({ ...query, limit: LIMIT }).items.length, shown, JSON.stringify(query));
    return store.reads - before;
  };
  const single: Omit<AuditQuery, 'limit'>[] = [
    {},
    { resource: 'agents' },
    { resource: 'agents/a1' },
    { action: 'create' },
    { actor: 'odd' },
    { until: START + 60 },
    { actor: 'odd', until: START + 60 },
  ];
  for (const query of single) {
    // One id and one event per row, one more id for the next page, and two reads to find the actor.
    for (const store of [small, large])
      t.ok(cost(store, query, LIMIT) <= 2 * LIMIT + 3, JSON.stringify(query));
  }
  for (const store of [small, large]) {
    t.ok(cost(store, { actor: 'even' }, LIMIT) <= 2 * LIMIT + 6, 'two actors have a common prefix');
  }
});

t.test('costs no more than the page for filters that match few events or none', async (t) => {
  const store = await storeFor(t);
  await filled(store, 2000);
  for (const [query, shown] of [
    [{ resource: 'skills', action: 'update' }, 2],
    [{ resource: 'skills/rare', actor: 'odd' }, 2],
    [{ action: 'update', actor: 'even' }, 0],
    [{ resource: 'agents', action: 'create', actor: 'odd' }, 0],
    [{ resource: 'agents/a1', action: 'create', actor: 'e' }, LIMIT],
    [{ resource: 'agents/a1', action: 'create', since: START + 1990 }, 2],
    [{ action: 'update', actor: 'odd', until: START + 3 }, 1],
  ] as const) {
    const before = store.reads;
    const { items } = store.audit.page({ ...query, limit: LIMIT });
    t.equal(items.length, shown, JSON.stringify(query));
    t.ok(
      store.reads - before <= 2 * shown + 6,
      `${JSON.stringify(query)} took ${store.reads - before} reads`,
    );
  }
});
