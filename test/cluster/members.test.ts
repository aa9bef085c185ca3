import { setTimeout as pause } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { LONG } from '../long.ts';
import { SEED } from '../random.ts';
import { type Cluster, startCluster } from './cluster.ts';
import { untilProgress } from './nemesis.ts';
import { startPostgres } from './postgres.ts';
import { VIAS } from './vias.ts';

/** Member processes under one kind of fault at a time (cluster.md 19.2), directly and through pgbouncer (check 14). */

/** A statement may take half of it, also on a busy host. */
const TTL_MS = 2000;
const RESTARTS = LONG ? 40 : 2;
const RESTART_EVERY_MS = LONG ? 3_000 : 1_000;

// Most of the time passes in waits for leases.
t.jobs = 2;
t.setTimeout(LONG ? 900_000 : 240_000);

const until = async (condition: () => boolean): Promise<void> => {
  while (!condition()) await pause(20);
};

const checkHistory = async (t: Test, cluster: Cluster): Promise<void> => {
  const violations = await cluster.finish();
  t.strictSame(violations.slice(0, 20), [], `the history has no violation (seed ${SEED})`);
  t.comment(JSON.stringify(cluster.history.counts()));
};

for (const [via, skip] of VIAS)
  t.test(`members, ${via}`, { skip, buffered: true }, async (t) => {
    const postgres = await startPostgres(t);
    const options = { via, seed: SEED, ttlMs: TTL_MS, members: 2, pauseMs: 70 };

    await t.test('a member that is stopped past its lease commits nothing more (check 3)', async (t) => {
      const cluster = await startCluster(t, postgres, options);
      await untilProgress(cluster, 30);
      const [stopped] = cluster.places;
      const id = stopped?.member?.ids.at(-1) ?? '';
      stopped?.member?.stop();
      await until(() => cluster.history.has('fenced', id));
      await untilProgress(cluster, 30);
      stopped?.member?.resume();
      await until(() => cluster.history.has('lost', id));
      await untilProgress(cluster, 30);
      await until(() => (stopped?.member?.ids.length ?? 0) > 1);
      t.not(stopped?.member?.ids.at(-1), id, 'the member joins again with another id');
      await until(() => cluster.history.counts().takeovers > 0);
      await checkHistory(t, cluster);
    });

    await t.test(
      `every promise is kept over ${RESTARTS} immediate restarts of the server (check 9)`,
      async (t) => {
        const cluster = await startCluster(t, postgres, options);
        for (let count = 0; count < RESTARTS; count += 1) {
          await untilProgress(cluster, 20);
          await pause(RESTART_EVERY_MS);
          await postgres.restart();
        }
        await untilProgress(cluster, 20);
        await checkHistory(t, cluster);
      },
    );
  });
