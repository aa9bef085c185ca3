import { z } from 'zod';
import { textReply } from '../http/reply.ts';
import { route } from '../http/route.ts';
import type { RouteDeps } from './route-deps.ts';

/** The metrics of the process (runtime.md 15.3). */
export const metricsRoute = (metrics: RouteDeps['metrics']) =>
  route.get('/metrics', {
    id: 'getMetrics',
    summary: 'Prometheus text',
    description: 'Counters, gauges and histograms of the process, for a scraper.',
    tag: 'health',
    needs: 'observe',
    anonymous: true,
    responses: {
      200: { description: 'Prometheus text format 0.0.4.', content: { 'text/plain': z.string() } },
    },
    async handle({ hold }) {
      // A request that waits for the next rendering must not occupy a concurrency slot.
      hold();
      return textReply(await metrics.render(), metrics.contentType);
    },
  });
