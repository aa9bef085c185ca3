import { quick } from './bounds.ts';
import { createCounter, createDurations, createReading, type Families } from './families.ts';

/** Metrics of a member of a cluster. Without a cluster they have no series. */

/** Values read at each rendering of the metrics. */
type ClusterReadings = {
  state(): string;
  /** Numbers of members by their states. */
  members(): ReadonlyMap<string, number>;
  leaseRemainingSeconds(): number;
  copyBytes(): number;
  loopPauseSeconds(): number;
  /** Open connections by their use. */
  connections(): ReadonlyMap<string, number>;
};

const STATES = [
  'opening',
  'joining',
  'standby',
  'loading',
  'active',
  'doubtful',
  'isolated',
  'fenced',
  'draining',
  'gone',
  'refused',
] as const;

const rowBounds = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 4000];
const takeoverBounds = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 20, 30, 60, 120];

export const createClusterMetrics = (families: Families) => {
  let readings: ClusterReadings | undefined;
  registerReadings(families, () => readings);
  const commits = createDurations(families, ['result'], {
    suffix: 'cluster_commit_duration_seconds',
    help: 'Duration of a group of commits in the database',
    bounds: quick,
  });
  const rows = createDurations(families, [], {
    suffix: 'cluster_commit_rows',
    help: 'Rows of a group of commits',
    bounds: rowBounds,
  });
  const unknown = createCounter(families, ['settled'], {
    suffix: 'cluster_commit_unknown_total',
    help: 'Commits without a response, by what had become of them: applied, open (sent again), fenced',
  });
  const fenced = createCounter(families, ['why'], {
    suffix: 'cluster_fenced_total',
    help: 'Memberships of this process that have ended: silent, behind, copy, asked',
  });
  const takeovers = createDurations(
    families,
    [],
    {
      suffix: 'cluster_takeover_seconds',
      help: 'Time from the last beat of the member before until requests could be served',
      bounds: takeoverBounds,
    },
    { suffix: 'cluster_takeovers_total', help: 'Takeovers of the work of another member' },
  );
  const errors = createCounter(families, ['class'], {
    suffix: 'database_errors_total',
    help: 'Errors of the database by the class of their SQLSTATE; `lost`: no response',
  });
  return {
    /** Reads values until the returned function is called. */
    read(given: ClusterReadings) {
      readings = given;
      return () => {
        if (readings === given) readings = undefined;
      };
    },
    committed(result: 'applied' | 'refused', seconds: number, count: number) {
      commits.observe(seconds, result);
      rows.observe(count);
    },
    unknownSettled(settled: 'applied' | 'open' | 'fenced') {
      unknown.add(1, settled);
    },
    fenced(why: 'silent' | 'behind' | 'copy' | 'asked') {
      fenced.add(1, why);
    },
    tookOver(seconds: number) {
      takeovers.observe(seconds);
    },
    databaseError(errorClass: string) {
      errors.add(1, errorClass);
    },
  };
};

const registerReadings = (families: Families, now: () => ClusterReadings | undefined): void => {
  const read = (suffix: string, help: string, value: (readings: ClusterReadings) => number): void =>
    createReading(families, [], { suffix, help }, () => {
      const readings = now();
      return readings ? [[value(readings)]] : [];
    });
  createReading(
    families,
    ['state'],
    {
      suffix: 'cluster_state',
      help: `1 for the state of this member: ${STATES.join(', ')}`,
    },
    () => {
      const state = now()?.state();
      return state === undefined ? [] : STATES.map((each) => [each === state ? 1 : 0, each] as const);
    },
  );
  createReading(
    families,
    ['state'],
    { suffix: 'cluster_members', help: 'Members by state, as this one has read them' },
    () => [...(now()?.members() ?? [])].map(([state, count]) => [count, state] as const),
  );
  read('cluster_lease_remaining_seconds', 'Time until the lease of this member is over', (readings) =>
    readings.leaseRemainingSeconds(),
  );
  read('cluster_copy_bytes', 'Size of the copy of the data', (readings) => readings.copyBytes());
  read('cluster_loop_pause_seconds', 'Longest pause of the event loop in the last minute', (readings) =>
    readings.loopPauseSeconds(),
  );
  createReading(
    families,
    ['use'],
    { suffix: 'database_connections', help: 'Open connections to the database by their use' },
    () => [...(now()?.connections() ?? [])].map(([use, count]) => [count, use] as const),
  );
};
