import { z } from 'zod';
import { textReply } from '../http/reply.ts';
import { reply, route } from '../http/route.ts';
import type { RunStatus } from '../schema/run.ts';
import { RunSummary, SystemInfo } from '../schema/system.ts';
import { timerMs } from '../schema/timer.ts';
import type { Store } from '../store/index.ts';
import type { RouteDeps } from './route-deps.ts';

/** Health, metrics and system (runtime.md 15). */

const Health = z
  .object({
    status: z.enum(['healthy', 'unhealthy']),
    components: z.object({ store: z.enum(['ok', 'error', 'timeout']), runtime: z.enum(['ok', 'starting']) }),
  })
  .meta({ id: 'Health', description: 'Whether the service accepts requests.' });

export const systemRoutes = (deps: RouteDeps) => [...healthRoutes(deps), ...statusRoutes(deps)];

/** Routes for load balancers, supervisors and scrapers. */
const healthRoutes = ({ store, runtime, metrics, settings }: RouteDeps) => [
  route.get('/health', {
    id: 'getHealth',
    summary: 'Readiness: the store responds and recovery has read all interrupted runs',
    description:
      'For load balancers: 503 while the store does not respond, or while interrupted runs of an earlier process are still being read.',
    tag: 'health',
    needs: 'nothing',
    responses: { 200: Health, 503: Health },
    async handle() {
      const state = await probe(store, settings.health_store_timeout_ms);
      const components = { store: state, runtime: runtime.isReady() ? 'ok' : 'starting' };
      return state === 'ok' && components.runtime === 'ok'
        ? { status: 'healthy', components }
        : reply(503, { status: 'unhealthy', components });
    },
  }),
  route.get('/health/live', {
    id: 'getLiveness',
    summary: 'Liveness: the process responds',
    description: 'For supervisors: 200 while the process responds, regardless of the store.',
    tag: 'health',
    needs: 'nothing',
    responses: { 200: 'empty' },
    handle: () => reply(200),
  }),
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
  }),
];

const statusRoutes = ({ store, wholeScope, runtimeStats, config, system, settings }: RouteDeps) => [
  route.get('/v1/system/info', {
    id: 'getSystemInfo',
    summary: 'Version, scope and uptime',
    description: 'Version, scope of the request, and enabled optional parts.',
    tag: 'system',
    needs: 'observe',
    responses: { 200: SystemInfo },
    handle: ({ scope }) => ({
      version: system.version,
      scope_id: scope,
      uptime_seconds: system.uptimeSeconds(),
      config_store_enabled: config !== undefined,
      audit_log_enabled: config !== undefined && settings.audit_log.enabled,
      runtime_stats_enabled: runtimeStats !== undefined,
      open_to_all: system.isOpenToAll,
    }),
  }),
  route.get('/v1/system/modules', {
    id: 'listModules',
    summary: 'Names of the mounted modules',
    description: 'Parts that the settings disable are omitted.',
    tag: 'system',
    needs: 'observe',
    responses: { 200: z.array(z.string()) },
    handle: () => system.modules,
  }),
  route.get('/v1/runs/summary', {
    id: 'getRunSummary',
    summary: 'Number of running, waiting and created runs',
    description: 'Counts runs of the scope of the request, without ended runs.',
    tag: 'runs',
    needs: ['observe', 'read:all'],
    responses: { 200: RunSummary },
    handle({ principal: { scope } }) {
      const count = (status: RunStatus): number =>
        wholeScope.lists(scope).reduce((sum, list) => sum + store.runs.count(list, status), 0);
      return { running: count('running'), waiting: count('waiting'), created: count('created') };
    },
  }),
];

const probe = async (store: Store, timeoutMs: number): Promise<'ok' | 'error' | 'timeout'> => {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<'timeout'>((resolve) => {
    timer = setTimeout(resolve, timerMs(timeoutMs), 'timeout');
  });
  const answer = Promise.resolve()
    .then(() => store.check())
    .then(
      () => 'ok' as const,
      () => 'error' as const,
    );
  try {
    return await Promise.race([answer, timeout]);
  } finally {
    clearTimeout(timer);
  }
};
