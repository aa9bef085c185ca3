import { createRunBody } from '../src/load-generator/index.ts';
import { agentsModule } from './agents.ts';
import type { Benchmark, Context } from './benchmark.ts';
import { type Played, playLoad } from './load.ts';
import { interleaved, median } from './rounds.ts';
import type { Measured } from './row.ts';
import { ADMIN_TOKEN, type Server, startTroupe } from './servers.ts';

/**
 * The cost of watching for the service: runs that call tools as fast as possible, with and without a reader of the
 * actor stream. `console` measures the cost for the page.
 */

const ROUNDS = 3;

const connectionsOf = ({ short }: Context): number => (short ? 2 : 64);

/**
 * Reads the actor stream until the returned function is called. @returns a function that stops and returns the number
 * of bytes received
 */
const startReader = async ({ url }: Server): Promise<() => Promise<number>> => {
  const stop = new AbortController();
  const response = await fetch(`${url}/v1/system/actors/stream?machine=run`, {
    headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
    signal: stop.signal,
  });
  let bytes = 0;
  const read = (async (): Promise<void> => {
    for await (const piece of response.body ?? []) bytes += piece.byteLength;
  })().catch(() => {});
  return async () => {
    stop.abort();
    await read;
    return bytes;
  };
};

const costOfWatching = async (context: Context): Promise<Measured> => {
  const connections = connectionsOf(context);
  const body = createRunBody('bench-rounds');
  const server = await startTroupe(context, {
    flags: ['--config', agentsModule(context, { rounds: ROUNDS })],
  });
  const play = () => playLoad(server, { connections, body, duration_ms: context.roundMs(4000) });
  try {
    if (!context.short) await playLoad(server, { connections, body, duration_ms: 2000 });
    let bytes = 0;
    const { alone, watched } = await interleaved(context.short ? 1 : 3, {
      alone: play,
      watched: async () => {
        const stop = await startReader(server);
        const played = await play();
        bytes += await stop();
        return played;
      },
    });
    const runs = watched.reduce((sum, { report }) => sum + report.streams, 0);
    context.note(`the reader received ${Math.round(bytes / 1024)} KiB during ${runs} runs`);
    const medianOf = (of: readonly Played[], figure: 'cost' | 'rate' | 'share'): number =>
      median(of.map((played) => played[figure]));
    return {
      metric: `a run of ${ROUNDS} rounds with two tools, watched`,
      unit: 'ms of CPU',
      baseline: 'not watched',
      aim: { of: 'ratio', most: 1.05 },
      rounds: [
        {
          value: medianOf(watched, 'cost'),
          baseline: medianOf(alone, 'cost'),
          rates: [medianOf(watched, 'rate'), medianOf(alone, 'rate')],
          shares: { Troupe: medianOf(watched, 'share') },
        },
      ],
    };
  } finally {
    await server.process.stop();
  }
};

export const watched: Benchmark = {
  name: 'watched',
  title: 'watched: what watching costs the service',
  run: async (context) => [await costOfWatching(context)],
};
