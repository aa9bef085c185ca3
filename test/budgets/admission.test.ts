import t, { type Test } from 'tap';
import { type Admission, createAdmission } from '../../src/budgets/admission.ts';
import { createCounters } from '../../src/budgets/counters.ts';
import { RateLimited } from '../../src/schema/outcome.ts';
import { storeFor } from '../store/open.ts';
import { createBudget, SUBJECT } from './entries.ts';

/** Limits of requests, event streams and runs (identity.md 5.1). */

const MINUTE = 60_000;
const bob = { ...SUBJECT, user: 'bob' };

const start = async (t: Test, ...entries: object[]) => {
  const store = await storeFor(t);
  const clock = { at: Date.UTC(2026, 10, 28, 12, 0, 30) };
  const refused: string[] = [];
  const create = (): Admission => {
    const admission = createAdmission({
      counters: createCounters(store.budgetCounters),
      stored: store.budgetCounters,
      now: () => clock.at,
      limited: (budget, limit) => refused.push(`${budget} ${limit}`),
    });
    admission.apply(entries.map((entry, index) => createBudget({ id: `b${index}`, ...entry })));
    return admission;
  };
  return { store, clock, refused, create, admission: create() };
};

/** Returns the seconds of a refusal; undefined if the work is admitted. */
const retryOf = (work: () => void): number | 'unknown' | undefined => {
  try {
    work();
    return undefined;
  } catch (error) {
    if (!(error instanceof RateLimited)) throw error;
    return error.retryAfterSecs ?? 'unknown';
  }
};

t.test('requests per minute are a bucket per user without a burst at the edge', async (t) => {
  const { clock, refused, admission } = await start(t, {
    per: ['user'],
    window: { every: 'minute' },
    limits: { requests: 5 },
  });
  const tries = (count: number, subject = SUBJECT) =>
    Array.from({ length: count }, () => retryOf(() => admission.request(subject))).filter(
      (retry) => retry === undefined,
    ).length;
  t.equal(tries(10), 5);
  t.equal(
    retryOf(() => admission.request(SUBJECT)),
    12,
  );
  t.equal(
    retryOf(() => admission.request(bob)),
    undefined,
    'another user is unaffected',
  );
  // The calendar minute changes: only what has refilled fits.
  clock.at += MINUTE / 2;
  t.equal(tries(10), 2);
  clock.at += 10 * MINUTE;
  t.equal(tries(10), 5, 'the bucket holds no more than the limit');
  t.equal(new Set(refused).size, 1);
  t.equal(refused[0], 'b0 requests');
});

t.test('requests per day are counted by the calendar', async (t) => {
  const { clock, admission } = await start(t, { window: { every: 'day' }, limits: { requests: 2 } });
  const request = () => retryOf(() => admission.request(SUBJECT));
  t.same([request(), request()], [undefined, undefined]);
  t.equal(request(), 43_170);
  clock.at = Date.UTC(2026, 10, 29);
  t.equal(request(), undefined);
});

t.test('what one budget refuses is counted by none', async (t) => {
  const { clock, admission } = await start(
    t,
    { window: { every: 'minute' }, limits: { requests: 3 } },
    { window: { every: 'hour' }, limits: { requests: 1 }, match: { user: 'alice' } },
  );
  const alice = { ...SUBJECT, user: 'alice' };
  t.equal(
    retryOf(() => admission.request(alice)),
    undefined,
  );
  for (let count = 0; count < 5; count += 1)
    t.equal(
      retryOf(() => admission.request(alice)),
      3600,
    );
  t.same(
    [retryOf(() => admission.request(bob)), retryOf(() => admission.request(bob))],
    [undefined, undefined],
  );
  t.equal(
    retryOf(() => admission.request(bob)),
    20,
  );
  clock.at -= MINUTE;
  t.equal(
    retryOf(() => admission.request(bob)),
    80,
    'a clock that is set back opens nothing',
  );
});

t.test('open event streams are counted until each is closed once', async (t) => {
  const { admission } = await start(t, { per: ['user'], limits: { open_streams: 2 } });
  const [first, second] = [admission.openStream(SUBJECT), admission.openStream(SUBJECT)];
  t.equal(
    retryOf(() => admission.openStream(SUBJECT)),
    5,
  );
  t.equal(
    retryOf(() => admission.openStream(bob)),
    undefined,
  );
  first();
  first();
  const third = admission.openStream(SUBJECT);
  t.equal(
    retryOf(() => admission.openStream(SUBJECT)),
    5,
  );
  for (const close of [second, third]) close();
  t.equal(
    retryOf(() => admission.openStream(SUBJECT)),
    undefined,
  );
});

t.test('runs of a calendar window and of a root run survive the process', async (t) => {
  const { store, create, admission } = await start(
    t,
    { window: { every: 'day' }, limits: { runs: 3 }, match: { user: 'bob' } },
    { per: ['run'], window: undefined, limits: { runs: 2 } },
  );
  const add = async (to: Admission, subject: typeof SUBJECT) => {
    const batch = store.batch('commons');
    to.checkRun(subject);
    to.addRun(batch, subject);
    await store.commit(batch);
  };
  for (const run of ['r1', 'r2', 'r3']) {
    t.equal(
      retryOf(() => admission.checkRun({ ...bob, run: '' })),
      undefined,
    );
    await add(admission, { ...bob, run });
  }
  t.equal(
    retryOf(() => admission.checkRun({ ...bob, run: '' })),
    43_170,
  );
  await add(admission, { ...SUBJECT, run: 'r9' });
  await add(admission, { ...SUBJECT, run: 'r9' });
  for (const each of [admission, create()]) {
    t.equal(
      retryOf(() => each.checkRun({ ...SUBJECT, run: 'r9' })),
      'unknown',
    );
    t.equal(
      retryOf(() => each.checkRun({ ...SUBJECT, run: 'r10' })),
      undefined,
    );
    t.equal(
      retryOf(() => each.checkRun({ ...bob, run: '' })),
      43_170,
    );
  }
});

t.test('runs per minute are a bucket', async (t) => {
  const { store, clock, admission } = await start(t, { window: { every: 'minute' }, limits: { runs: 2 } });
  const batch = store.batch('commons');
  for (let count = 0; count < 2; count += 1) admission.addRun(batch, SUBJECT);
  t.equal(batch.writes.length, 0, 'without access of the store');
  t.equal(
    retryOf(() => admission.checkRun(SUBJECT)),
    30,
  );
  clock.at += 30_000;
  t.equal(
    retryOf(() => admission.checkRun(SUBJECT)),
    undefined,
  );
});

t.test('the levels of many users are bounded', async (t) => {
  const { admission } = await start(t, {
    per: ['user'],
    window: { every: 'hour' },
    limits: { requests: 1 },
  });
  for (let count = 0; count < 120_000; count += 1) admission.request({ ...SUBJECT, user: `u${count}` });
  t.equal(
    retryOf(() => admission.request({ ...SUBJECT, user: 'u119999' })),
    3600,
    'recent ones are kept',
  );
});
