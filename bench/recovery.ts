import { agentsModule } from './agents.ts';
import type { Benchmark, Context } from './benchmark.ts';
import { BenchError } from './error.ts';
import { freePort, untilHealthy } from './health.ts';
import type { Measured } from './row.ts';
import { askJson, type Server, spawnTroupe, startTroupe } from './servers.ts';
import { usageFrom } from './usage.ts';

/**
 * A process is killed while runs are open, and the next one resumes them: the time until it is ready, and until all
 * runs have ended. The model never completes in the first process, and completes at once in the second.
 */

const AT_A_TIME = 32;

const GIVE_UP_MS = 600_000;

/** Starts runs without streams, as a queue would. */
const openRuns = async (server: Server, count: number): Promise<void> => {
  let left = count;
  const opener = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      // The shape of the route's response.
      const { id } = (await askJson(server, '/v1/threads', { title: 'recovery' })) as { id: string };
      const messages = [{ role: 'user', content: 'Go.' }];
      await askJson(server, `/v1/threads/${id}/messages`, { agentId: 'bench-open', messages });
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, opener));
  await untilRunning(server, (running) => running === count);
};

type Summary = { running: number; waiting: number; created: number };

const untilRunning = async (server: Server, reached: (open: number) => boolean): Promise<void> => {
  const began = performance.now();
  for (;;) {
    // The shape of the route's response.
    const { running, waiting, created } = (await askJson(server, '/v1/runs/summary')) as Summary;
    if (reached(running + waiting + created)) return;
    if (performance.now() - began > GIVE_UP_MS)
      throw new BenchError(`${server.name}: ${running} runs still execute after ${GIVE_UP_MS / 1000} s`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
};

const assertAllDone = async (server: Server, count: number): Promise<void> => {
  // The shape of the route's response.
  const page = (await askJson(server, '/v1/runs?status=done&limit=200')) as {
    total: number;
    items: { termination_reason?: { type: string } }[];
  };
  const odd = page.items.find((run) => run.termination_reason?.type !== 'natural_end');
  if (odd) throw new BenchError(`${server.name}: a run ended with ${odd.termination_reason?.type}`);
  if (page.total !== count) throw new BenchError(`${server.name}: ${page.total} of ${count} runs are done`);
};

const crashed = async (context: Context, dir: string): Promise<void> => {
  const flags = ['--config', agentsModule(context, { answers: false })];
  const server = await startTroupe(context, { dir, flags });
  await openRuns(server, context.openRuns);
  server.process.signal('SIGKILL');
  await server.process.exited;
};

export const recovery: Benchmark = {
  name: 'recovery',
  title:
    'recovery: a start after SIGKILL with open runs (--open-runs), until it is ready and until all have ended',
  async run(context) {
    const dir = context.folder();
    await crashed(context, dir);
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const flags = ['--config', agentsModule(context, { answers: true })];
    const began = performance.now();
    const process = spawnTroupe(context, { dir, port, flags });
    const used = usageFrom(process.pid);
    const server = { name: 'Troupe after the crash', url, process };
    await untilHealthy(process, url);
    const healthy = performance.now() - began;
    await untilRunning(server, (open) => open === 0);
    const ended = performance.now() - began;
    const { processor, granted } = used();
    await assertAllDone(server, context.openRuns);
    await process.stop();
    const row = (metric: string, unit: string, value: number): Measured => ({
      metric,
      unit,
      rounds: [{ value, shares: { Troupe: granted } }],
    });
    const of = `${context.openRuns} open runs`;
    return [
      row(`${of}: until /health answers`, 'ms', healthy),
      row(`${of}: until all have ended`, 'ms', ended),
      row(`${of}: start and recovery, a run`, 'ms of CPU', processor / context.openRuns),
    ];
  },
};
