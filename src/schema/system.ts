import { z } from 'zod';

/** The service as it tells of itself (runtime.md 15). */

export const SystemInfo = z
  .object({
    version: z.string(),
    scope_id: z.string(),
    uptime_seconds: z.int(),
    config_store_enabled: z.boolean(),
    audit_log_enabled: z.boolean(),
    runtime_stats_enabled: z.boolean(),
  })
  .meta({ id: 'SystemInfo', description: 'The service and what of it is on.' });

export type SystemInfo = z.infer<typeof SystemInfo>;

export const RunSummary = z
  .object({ running: z.int(), waiting: z.int(), created: z.int() })
  .meta({ id: 'RunSummary', description: 'Runs by status.' });
export type RunSummary = z.infer<typeof RunSummary>;
