import { setTimeout as pause } from 'node:timers/promises';
import type { Postgres } from '../../test/cluster/postgres.ts';
import type { Context } from '../benchmark.ts';
import type { Measured } from '../row.ts';
import { startTroupe, stopAll } from '../servers.ts';
import { threadsRan } from '../usage.ts';
import { startAlone } from './member.ts';
import { startRecorder } from './recorder.ts';

/** Statements and CPU time of an active member without requests, next to an embedded service. */

const IDLE_MS = 20_000;
const SHORT_MS = 500;
/** The first seconds still compile and collect. */
const SETTLE_MS = 5000;
const MOST_STATEMENTS = 2;
const MOST_CPU = 0.5;

export const measureIdle = async (context: Context, postgres: Postgres): Promise<Measured[]> => {
  const recorder = await startRecorder(postgres);
  const url = postgres.url(postgres.createDatabase(), recorder.port);
  const member = await startAlone(context, url);
  const embedded = await startTroupe(context, { durability: 'power' });
  try {
    await pause(context.short ? 0 : SETTLE_MS);
    recorder.takeCount();
    const began = performance.now();
    const ran = (): number[] => [member, embedded].map(({ process }) => threadsRan(process.pid));
    const before = ran();
    await pause(context.short ? SHORT_MS : IDLE_MS);
    const elapsed = performance.now() - began;
    const [value = Number.NaN, baseline = Number.NaN] = ran().map(
      (ms, index) => ((ms - (before[index] ?? 0)) / elapsed) * 100,
    );
    return [
      {
        metric: 'statements of an idle member',
        unit: 'statements/s',
        aim: { of: 'value', most: MOST_STATEMENTS },
        rounds: [{ value: recorder.takeCount() / (elapsed / 1000) }],
      },
      {
        metric: 'CPU time of an idle member',
        unit: '% of a core',
        baseline: 'embedded',
        aim: { of: 'value', most: MOST_CPU },
        rounds: [{ value, baseline }],
      },
    ];
  } finally {
    await stopAll([member, embedded]);
    await recorder.close();
  }
};
