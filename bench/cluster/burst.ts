import { createRunBody } from '../../src/load-generator/index.ts';
import type { Postgres } from '../../test/cluster/postgres.ts';
import type { Context } from '../benchmark.ts';
import { type Played, playLoad } from '../load.ts';
import { interleaved, median } from '../rounds.ts';
import type { Measured } from '../row.ts';
import { type Server, startTroupe, stopAll } from '../servers.ts';
import { openBare } from './bare.ts';
import { cpuOf } from './database.ts';
import { startAlone } from './member.ts';
import { startRecorder } from './recorder.ts';

/**
 * Durable runs of 200 tokens, all at once, of a member alone: its CPU time next to that of a service without a database,
 * and the CPU time of PostgreSQL next to the same rows in as many statements of a bare client. Both alternate in blocks.
 */

const CONNECTIONS = 64;
const PAIRS = 6;
const BLOCK_MS = 1000;
const MOST = 1.25;

const loadOf = ({ short, roundMs }: Context) => ({
  body: createRunBody('bench'),
  connections: short ? 2 : CONNECTIONS,
  duration_ms: roundMs(BLOCK_MS),
});

const pairsOf = ({ short }: Context): number => (short ? 1 : PAIRS);

/** The first blocks, which are not counted, compile the code and fill caches. */
const warmUp = async (context: Context, servers: readonly Server[]): Promise<void> => {
  if (context.short) return;
  for (const server of servers) await playLoad(server, { ...loadOf(context), duration_ms: 3 * BLOCK_MS });
};

const medianOf = (played: readonly Played[], of: 'cost' | 'rate' | 'share'): number =>
  median(played.map((each) => each[of]));

const measureNode = async (context: Context, postgres: Postgres): Promise<Measured> => {
  const member = await startAlone(context, postgres.url(postgres.createDatabase()));
  const embedded = await startTroupe(context, { durability: 'power' });
  try {
    await warmUp(context, [member, embedded]);
    const load = loadOf(context);
    const { mine, theirs } = await interleaved(pairsOf(context), {
      mine: () => playLoad(member, load),
      theirs: () => playLoad(embedded, load),
    });
    return {
      metric: 'a stream, all at once, of a member alone',
      unit: 'ms of CPU of node',
      baseline: 'embedded',
      aim: { of: 'ratio', most: MOST },
      rounds: [
        {
          value: medianOf(mine, 'cost'),
          baseline: medianOf(theirs, 'cost'),
          rates: [medianOf(mine, 'rate'), medianOf(theirs, 'rate')],
          shares: { embedded: medianOf(theirs, 'share') },
        },
      ],
    };
  } finally {
    await stopAll([member, embedded]);
  }
};

const measurePostgres = async (context: Context, postgres: Postgres): Promise<Measured> => {
  const name = postgres.createDatabase();
  const recorder = await startRecorder(postgres);
  const member = await startAlone(context, postgres.url(name, recorder.port));
  const bare = await openBare(postgres.url(name));
  const spent: { value: number; baseline: number }[] = [];
  let statements = 0;
  try {
    await warmUp(context, [member]);
    for (const values of recorder.takeCommits()) await bare.commit(values);
    for (let pair = 0; pair < pairsOf(context); pair += 1) {
      let runs = 0;
      const value = await cpuOf(postgres, async () => {
        runs = (await playLoad(member, loadOf(context))).report.streams;
      });
      const commits = recorder.takeCommits();
      statements += commits.length / runs;
      const baseline = await cpuOf(postgres, async () => {
        for (const values of commits) await bare.commit(values);
      });
      spent.push({ value: value / runs, baseline: baseline / runs });
    }
  } finally {
    await stopAll([member]);
    await bare.end();
    await recorder.close();
  }
  context.note(`a run of a member alone is ${(statements / spent.length).toFixed(3)} statements`);
  return {
    metric: 'PostgreSQL a stream, all at once, of a member alone',
    unit: 'µs of CPU',
    baseline: 'bare pg, the same rows and statements',
    aim: { of: 'ratio', most: MOST },
    rounds: [
      {
        value: median(spent.map(({ value }) => value)),
        baseline: median(spent.map(({ baseline }) => baseline)),
      },
    ],
  };
};

export const measureBurst = async (context: Context, postgres: Postgres): Promise<Measured[]> => [
  await measureNode(context, postgres),
  await measurePostgres(context, postgres),
];
