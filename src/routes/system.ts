import { z } from 'zod';
import { route } from '../http/route.ts';
import type { RunStatus } from '../schema/run.ts';
import { RunSummary, SystemInfo } from '../schema/system.ts';
import { metricsRoute } from './metrics.ts';
import type { RouteDeps } from './route-deps.ts';

/** Metrics and system (runtime.md 15). */

export const systemRoutes = ({
  store,
  wholeScope,
  runtimeStats,
  config,
  membership,
  system,
  settings,
  metrics,
}: RouteDeps) => [
  metricsRoute(metrics),
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
      member: membership?.self() ?? null,
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
