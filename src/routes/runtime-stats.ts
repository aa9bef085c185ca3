import { z } from 'zod';
import { route } from '../http/route.ts';
import type { RuntimeStats, StatsWindow } from '../observability/statistics/runtime-stats.ts';
import { parseWindow } from '../observability/statistics/window.ts';
import { ErrorBody } from '../schema/error-body.ts';
import { NotFound, Unavailable } from '../schema/outcome.ts';
import { asInteger, count } from '../schema/paging.ts';
import { AgentStats, Course } from '../schema/runtime-stats.ts';
import { AgentId } from './parameters.ts';
import type { RouteDeps } from './route-deps.ts';

/** Recent activity of each agent (evals-and-traces.md 10.1). */

/** Bounds the response and the time that it takes. */
const MOST_POINTS = 400;

const Window = z.object({
  window: z.string().optional().meta({
    pattern: '^\\s*\\d+[smhd]?\\s*$',
    description: '<n>s, <n>m, <n>h, <n>d or seconds; default: everything',
  }),
  until: z.iso
    .datetime({ offset: true })
    .transform((text) => Date.parse(text))
    .optional()
    .meta({ description: 'end of the window, RFC 3339, exclusive; default: now' }),
  points: count
    .transform((text) => Math.min(MOST_POINTS, Math.max(1, Number(text))))
    .optional()
    .meta({
      description: `adds \`course\`, divided into about this number of points, clamped to 1..${MOST_POINTS}`,
      ...asInteger(),
    }),
});

const windowOf = ({ window, until }: z.output<typeof Window>): StatsWindow => ({
  ...(window !== undefined && { seconds: parseWindow(window) }),
  until,
});

const wired = (stats: RuntimeStats | undefined): RuntimeStats => {
  if (!stats) throw new Unavailable('runtime_stats registry not configured');
  return stats;
};

const COVERS =
  'Covers `window`, by default the last seven days, in buckets of ten minutes. 503 when statistics are disabled.';

export const runtimeStatsRoutes = ({ runtimeStats }: Pick<RouteDeps, 'runtimeStats'>) => [
  route.get('/v1/agents/runtime-stats', {
    id: 'listAgentStats',
    summary: 'Statistics of all active agents',
    description: `${COVERS} \`course\` is that of all agents together.`,
    tag: 'system',
    needs: 'observe',
    query: Window,
    responses: {
      200: z.object({
        agents: z.array(AgentStats),
        kept_seconds: z.int().meta({ description: 'the longest window' }),
        course: Course.optional().meta({ description: 'only with `points`' }),
      }),
    },
    handle({ query }) {
      const stats = wired(runtimeStats);
      const window = windowOf(query);
      return {
        agents: stats.list(window),
        kept_seconds: stats.keptSeconds,
        ...(query.points !== undefined && { course: stats.course(window, query.points) }),
      };
    },
  }),
  route.get('/v1/agents/:id/runtime-stats', {
    id: 'getAgentStats',
    summary: 'Statistics of one agent',
    description: COVERS,
    tag: 'system',
    needs: 'observe',
    params: z.object({ id: AgentId }),
    query: Window,
    responses: { 200: AgentStats, 404: ErrorBody },
    handle({ params, query }) {
      const stats = wired(runtimeStats);
      const window = windowOf(query);
      const snapshot = stats.snapshot(params.id, window);
      if (!snapshot) throw new NotFound(`agent not found in runtime stats: ${params.id}`);
      if (query.points === undefined) return snapshot;
      return { ...snapshot, course: stats.course(window, query.points, params.id) };
    },
  }),
];
