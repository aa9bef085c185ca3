import { setTimeout as pause } from 'node:timers/promises';
import type { Postgres } from '../../test/cluster/postgres.ts';
import type { Context } from '../benchmark.ts';
import type { Measured } from '../row.ts';
import { startTroupe, stopAll } from '../servers.ts';
import { usageFrom } from '../usage.ts';
import { startAlone } from './member.ts';
import { startRecorder } from './recorder.ts';

/** Statements and CPU time of an active member without requests, next to an embedded service. */

const IDLE_MS = 20_000;
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
    const [used, usedEmbedded] = [usageFrom(member.process.pid), usageFrom(embedded.process.pid)];
    await pause(context.short ? context.roundMs(IDLE_MS) : IDLE_MS);
    const { processor, elapsed } = used();
    const beside = usedEmbedded();
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
        rounds: [
          {
            value: (processor / elapsed) * 100,
            baseline: (beside.processor / beside.elapsed) * 100,
          },
        ],
      },
    ];
  } finally {
    await stopAll([member, embedded]);
    await recorder.close();
  }
};
