import { z } from 'zod';
import { route } from '../http/route.ts';
import { ErrorBody } from '../schema/error-body.ts';
import { NotFound, Unavailable } from '../schema/outcome.ts';
import { AgentStats } from '../schema/runtime-stats.ts';
import type { RuntimeStats } from '../telemetry/runtime-stats.ts';
import { parseWindow } from '../telemetry/window.ts';
import { AgentId } from './parameters.ts';
import type { Rooms } from './rooms.ts';

/** What each agent did lately (evals-and-traces.md 10.1). */

const Window = z.object({
  window: z.string().optional().meta({
    pattern: '^\\s*\\d+[smhd]?\\s*$',
    description: '<n>s, <n>m, <n>h, <n>d or seconds; default: everything',
  }),
});

const wired = (stats: RuntimeStats | undefined): RuntimeStats => {
  if (!stats) throw new Unavailable('runtime_stats registry not configured');
  return stats;
};

export const runtimeStatsRoutes = ({ runtimeStats }: Pick<Rooms, 'runtimeStats'>) => [
  route.get('/v1/agents/runtime-stats', {
    id: 'listAgentStats',
    summary: 'Statistics of every agent that did something',
    description:
      'Of the last seven days, in buckets of ten minutes. 503 when the service keeps no statistics.',
    tag: 'system',
    scope: 'admin',
    responses: { 200: z.object({ agents: z.array(AgentStats) }) },
    handle: () => ({ agents: wired(runtimeStats).list() }),
  }),
  route.get('/v1/agents/:id/runtime-stats', {
    id: 'getAgentStats',
    summary: 'Statistics of one agent',
    description:
      'Of the last `window`, in buckets of ten minutes; of the last seven days without one. 503 when the service keeps no statistics.',
    tag: 'system',
    scope: 'admin',
    params: z.object({ id: AgentId }),
    query: Window,
    responses: { 200: AgentStats, 404: ErrorBody },
    handle({ params, query }) {
      const stats = wired(runtimeStats);
      const window = query.window === undefined ? undefined : parseWindow(query.window);
      const snapshot = stats.snapshot(params.id, window);
      if (!snapshot) throw new NotFound(`agent not found in runtime stats: ${params.id}`);
      return snapshot;
    },
  }),
];
