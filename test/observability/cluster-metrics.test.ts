import t from 'tap';
import { memberMachine } from '../../machines/member.ts';
import { createMetrics } from '../../src/observability/metrics/metrics.ts';

/** The states of the statechart that are shown: its tags without those about requests. */
const statesOf = ({ tags, states }: typeof memberMachine.root): string[] => [
  ...new Set([
    ...tags.filter((tag) => tag !== 'serves' && tag !== 'forwards'),
    ...Object.values(states).flatMap(statesOf),
  ]),
];

t.test('a member of a cluster has series while its values are read', async (t) => {
  const metrics = createMetrics();
  const clusterLines = async () =>
    (await metrics.render()).split('\n').filter((line) => /^service_(?:cluster|database)_/.test(line));
  const stop = metrics.cluster.read({
    state: () => 'active',
    members: () => new Map([['standby', 2]]),
    leaseRemainingSeconds: () => 8.5,
    copyBytes: () => 4096,
    loopPauseSeconds: () => 0.25,
    connections: () => new Map([['pool', 3]]),
  });
  metrics.cluster.databaseError('57');
  metrics.cluster.fenced('behind');
  metrics.cluster.tookOver(1.5);
  metrics.cluster.unknownSettled('open');
  metrics.cluster.committed('applied', 0.02, 12);
  const lines = await clusterLines();
  for (const line of [
    'service_cluster_state{state="active"} 1',
    'service_cluster_state{state="standby"} 0',
    'service_cluster_members{state="standby"} 2',
    'service_cluster_lease_remaining_seconds 8.5',
    'service_cluster_copy_bytes 4096',
    'service_cluster_loop_pause_seconds 0.25',
    'service_database_connections{use="pool"} 3',
    'service_database_errors_total{class="57"} 1',
    'service_cluster_fenced_total{why="behind"} 1',
    'service_cluster_takeovers_total 1',
    'service_cluster_takeover_seconds_sum 1.5',
    'service_cluster_commit_unknown_total{settled="open"} 1',
    'service_cluster_commit_duration_seconds_count{result="applied"} 1',
    'service_cluster_commit_rows_sum 12',
  ])
    t.ok(lines.includes(line), line);
  const states = lines.flatMap((line) => /cluster_state\{state="(\w+)"/.exec(line)?.[1] ?? []);
  t.strictSame(states.toSorted(), statesOf(memberMachine.root).toSorted(), 'one series for each state');
  stop();
  t.strictSame(
    (await clusterLines()).filter((line) => /state|lease|copy|pause|members|connections/.test(line)),
    [],
  );
});
