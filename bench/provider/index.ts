import type { Benchmark } from '../benchmark.ts';
import { measureDelays } from './delays.ts';
import { measureFootprint } from './footprint.ts';
import { measureIdleServer } from './idle-server.ts';
import { assertAccepted, startUpstream } from './peers.ts';
import { measureProfiled } from './profile.ts';
import { measureRuns } from './runs.ts';

/**
 * Runs of 200 tokens whose model is a provider: an upstream on the core of the load generator that streams like the
 * real services. The baselines, on the core of Troupe: a bare proxy that parses each chunk and encodes it again, `ai`
 * on node:http, and LiteLLM.
 */
export const provider: Benchmark = {
  name: 'provider',
  title:
    'provider: durable runs of 200 tokens through an upstream, 32 clients; p50 and p99 are ms for a whole run',
  async run(context) {
    const upstream = await startUpstream(context);
    try {
      const rows =
        context.profile === undefined
          ? [
              ...(await measureRuns(context, upstream)),
              ...(await measureDelays(context, upstream)),
              ...(await measureIdleServer(context, upstream)),
              ...(await measureFootprint(context, upstream)),
            ]
          : await measureProfiled(context, upstream, context.profile);
      await assertAccepted(upstream);
      return rows;
    } finally {
      await upstream.process.stop();
    }
  },
};
