import { setTimeout as pause } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { createBeats } from '../../src/cluster/beats.ts';
import { createLease, type LeaseEvent } from '../../src/cluster/lease.ts';
import type { MemberRow } from '../../src/postgres/index.ts';
import { until } from './serving.ts';

/** Leases by a clock that the test moves, and beats as an observer sees them (cluster.md 5.4). */

const TTL_MS = 60_000;

type Answer = { kept: boolean } | { lost: true };

/** A lease whose renewals end when the test says so. */
const createScene = (t: Test) => {
  const events: LeaseEvent[] = [];
  const sent: ((answer: Answer) => void)[] = [];
  let now = 1000;
  const lease = createLease({
    ttlMs: TTL_MS,
    begunAt: now,
    monotonic: () => now,
    renew: () =>
      new Promise((resolve, reject) => {
        sent.push((answer) => ('kept' in answer ? resolve(answer.kept) : reject(new Error('no answer'))));
      }),
    happened: (event) => events.push(event),
  });
  t.teardown(() => lease.stop());
  return {
    lease,
    events,
    pass(ms: number) {
      now += ms;
    },
    /** Sends a renewal, and answers it after a time. */
    async renew(answer: Answer, tookMs = 0): Promise<void> {
      const before = sent.length;
      lease.renew();
      await until(() => sent.length > before, 'a renewal');
      now += tookMs;
      sent.at(-1)?.(answer);
      await pause(0);
    },
  };
};

t.test('a lease is over 0.9 TTL after the last renewal that succeeded was sent', async (t) => {
  const { lease, events, pass, renew } = createScene(t);
  t.equal(lease.remainingMs(), 54_000);
  pass(10_000);
  await renew({ kept: true }, 4000);
  t.equal(lease.remainingMs(), 50_000, 'the time of the answer does not count');
  pass(49_999);
  t.equal(lease.check(), true);
  pass(1);
  t.equal(lease.check(), false);
  t.equal(lease.check(), false);
  t.strictSame(events, ['renewed', 'over'], 'the end is emitted once');
  t.equal(lease.remainingMs(), 0);
  await renew({ kept: true });
  t.strictSame(events, ['renewed', 'over', 'renewed'], 'the database decides whether it continues');
  t.equal(lease.check(), true);
});

t.test('an answer that is read too late renews nothing', async (t) => {
  const { lease, events, renew } = createScene(t);
  await renew({ kept: true }, 2 * TTL_MS);
  t.strictSame(events, ['over']);
  t.equal(lease.check(), false);
});

t.test('a renewal without an answer changes nothing but soundness', async (t) => {
  const { lease, events, pass, renew } = createScene(t);
  t.equal(lease.soundSince(), 1000);
  pass(500);
  await renew({ lost: true });
  t.strictSame(events, ['failed']);
  t.equal(lease.soundSince(), undefined);
  t.equal(lease.remainingMs(), 53_500);
  pass(500);
  await renew({ kept: true }, 100);
  t.equal(lease.soundSince(), 2000, 'sound since the next one that succeeded was sent');
  await renew({ kept: true });
  t.equal(lease.soundSince(), 2000);
});

t.test('a pause longer than the lease ends soundness', async (t) => {
  const { lease, pass, renew } = createScene(t);
  pass(TTL_MS);
  await renew({ kept: true });
  t.equal(lease.soundSince(), 1000 + TTL_MS);
});

t.test('a membership that has ended emits nothing more', async (t) => {
  const { lease, events, pass, renew } = createScene(t);
  await renew({ kept: false });
  t.strictSame(events, ['fenced']);
  pass(2 * TTL_MS);
  lease.check();
  lease.renew();
  await pause(5);
  t.strictSame(events, ['fenced']);
});

const rowOf = (id: string, beat: number, state: MemberRow['state'] = 'live'): MemberRow => ({
  id,
  name: id,
  url: '',
  slot: 0,
  state,
  reason: null,
  program: '',
  joinedAt: 0,
  beat,
  commons: 0,
  load: null,
});

const silentIds = (beats: ReturnType<typeof createBeats>, soundSince: number | undefined): string[] =>
  beats.silent(soundSince).map(({ id }) => id);

t.test('a member is silent after one beat unchanged for more than a TTL', async (t) => {
  const beats = createBeats(100);
  beats.note([rowOf('a', 1), rowOf('b', 1), rowOf('c', 9, 'gone')], 0, 10);
  beats.note([rowOf('a', 1), rowOf('b', 2), rowOf('c', 9, 'gone')], 110, 200);
  t.strictSame(silentIds(beats, 0), [], 'from the answer of the first read to the send of the last');
  beats.note([rowOf('a', 1), rowOf('b', 3), rowOf('c', 9, 'gone')], 111, 120);
  t.strictSame(silentIds(beats, 0), ['a']);
  t.strictSame(silentIds(beats, 11), [], 'the observer itself was sound for a TTL only');
  t.strictSame(silentIds(beats, undefined), [], 'the observer has failed');
  t.equal(beats.remainingMs('b', 150), 70);
  t.equal(beats.remainingMs('a', 150), 0);
  t.equal(beats.remainingMs('x', 0), 0);
  t.equal(beats.seenAt('a'), 10);
});

t.test('beats count up to a change, not by their number', async (t) => {
  const beats = createBeats(100);
  beats.note([rowOf('a', 5)], 0, 0);
  beats.note([rowOf('a', 4)], 150, 150);
  t.strictSame(silentIds(beats, 0), [], 'a restored database may have an earlier beat');
});
