import { setTimeout as pause } from 'node:timers/promises';
import { takeCommit } from '../../src/postgres/commits.ts';
import { createStatements } from '../../src/postgres/statements.ts';
import type { Postgres } from '../../test/cluster/postgres.ts';
import type { Context } from '../benchmark.ts';
import { playLoad } from '../load.ts';
import { onAllCores } from '../pin.ts';
import { interleaved, percentile } from '../rounds.ts';
import type { Measured } from '../row.ts';
import { type Server, startTroupe, stopAll } from '../servers.ts';
import { type Bare, openBare } from './bare.ts';
import { createRun } from './commits.ts';
import { startAlone } from './member.ts';

/**
 * Time to the first token of a run in a thread that exists, on an idle member, with sequential requests. The unit is
 * that of an embedded service and two commits of a bare client, of as many rows as the half of a run has.
 */

const BLOCKS = 6;
const BLOCK_MS = 500;
/** Long enough for a server to be idle again. */
const PAUSE_MS = 5;
const COMMITS = 2;
const MOST = 1.3;

let threads = 0;

/** Each block has a thread, so that none becomes long. Its first run creates it, and does not count. */
const firstTokens = async (server: Server, duration_ms: number): Promise<number[]> => {
  threads += 1;
  const messages = [{ role: 'user', content: 'Go.' }];
  const body = JSON.stringify({ agentId: 'bench', threadId: `resident-${threads}`, messages });
  const found: number[] = [];
  const load = { connections: 1, pause_ms: PAUSE_MS, rest_ms: 0, body: () => body };
  await playLoad(server, { ...load, streams: 1 });
  await playLoad(server, {
    ...load,
    duration_ms,
    onSample: ({ ttft_ms }) => found.push(ttft_ms ?? Number.NaN),
  });
  return found;
};

const statements = createStatements({ schema: 'troupe', pooled: false, durability: 'power' });

/** The arrays of a commit of half of the rows of a run. */
const createValues = (): Buffer[] => {
  const run = createRun();
  const batch = { ...run, rows: run.rows.slice(0, run.rows.length / 2) };
  return statements
    .commit('', 1, takeCommit([batch]).commit)
    .values.filter((value) => Buffer.isBuffer(value));
};

const bareCommits = async (bare: Bare, duration_ms: number): Promise<number[]> => {
  const found: number[] = [];
  const began = performance.now();
  while (found.length === 0 || performance.now() - began < duration_ms) {
    const values = createValues();
    const started = performance.now();
    await bare.commit(values);
    found.push(performance.now() - started);
    await pause(PAUSE_MS);
  }
  return found;
};

export const measureFirstToken = async (context: Context, postgres: Postgres): Promise<Measured> => {
  const url = postgres.url(postgres.createDatabase());
  const member = await startAlone(context, url, { place: onAllCores });
  const embedded = await startTroupe(context, { durability: 'power', place: onAllCores });
  const bare = await openBare(url);
  const ms = context.roundMs(BLOCK_MS);
  try {
    for (const server of [member, embedded]) await firstTokens(server, ms);
    const { mine, theirs, commits } = await interleaved(context.short ? 1 : BLOCKS, {
      mine: () => firstTokens(member, ms),
      theirs: () => firstTokens(embedded, ms),
      commits: () => bareCommits(bare, ms),
    });
    const p50 = (values: readonly number[][]): number => percentile(values.flat(), 50);
    return {
      metric: 'first token in a thread of a member alone, idle',
      unit: 'ms',
      baseline: 'embedded and two bare commits',
      aim: { of: 'ratio', most: MOST },
      rounds: [
        {
          value: p50(mine),
          baseline: p50(theirs) + COMMITS * p50(commits),
          p50: p50(mine),
          p99: percentile(mine.flat(), 99),
        },
      ],
    };
  } finally {
    await stopAll([member, embedded]);
    await bare.end();
  }
};
