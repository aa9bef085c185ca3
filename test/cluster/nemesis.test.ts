import t, { type Test } from 'tap';
import { LONG } from '../long.ts';
import { SEED } from '../random.ts';
import { type Cluster, startCluster } from './cluster.ts';
import { runNemeses } from './nemesis.ts';
import { startPostgres } from './postgres.ts';
import { VIAS } from './vias.ts';

/**
 * Members under faults (cluster.md 19.2). TROUPE_TEST_SEED repeats the faults of a run, though never with the same
 * timing. TROUPE_TEST_LONG kills and stops members 300 times, TROUPE_CLUSTER_ENDS as often as it says.
 */

const ENDS = Number(process.env.TROUPE_CLUSTER_ENDS ?? (LONG ? 300 : 10));
/** A statement may take half of it, also on a busy host. */
const TTL_MS = 2000;
const MEMBERS = 3;
const PAUSE_MS = LONG ? 12 : 70;

// Most of the time passes in waits for leases.
t.jobs = 2;
t.setTimeout(120_000 + ENDS * 60_000);

/** The history is that of members that did something. */
const checkHistory = async (t: Test, cluster: Cluster): Promise<void> => {
  const violations = await cluster.finish();
  t.strictSame(violations.slice(0, 20), [], `the history has no violation (seed ${SEED})`);
  const counts = cluster.history.counts();
  t.comment(JSON.stringify(counts));
  t.ok(counts.acknowledged > 0, 'writes are acknowledged');
};

for (const [via, skip] of VIAS) {
  t.test(
    `keeps the history of ${MEMBERS} members over ${ENDS} kills and stops, ${via}`,
    { skip },
    async (t) => {
      const postgres = await startPostgres(t);
      const cluster = await startCluster(t, postgres, {
        via,
        seed: SEED,
        ttlMs: TTL_MS,
        members: MEMBERS,
        pauseMs: PAUSE_MS,
      });
      t.comment(JSON.stringify(await runNemeses(cluster, ENDS)));
      await checkHistory(t, cluster);
    },
  );
}
