import { z } from 'zod';

/** Information about the service (runtime.md 15). */

export const SystemInfo = z
  .object({
    version: z.string(),
    scope_id: z.string(),
    uptime_seconds: z.int(),
    config_store_enabled: z.boolean(),
    audit_log_enabled: z.boolean(),
    runtime_stats_enabled: z.boolean(),
    open_to_all: z.boolean().meta({
      description: 'whether requests without a credential are accepted from other hosts',
    }),
    member: z.object({ id: z.string(), name: z.string() }).nullable().meta({
      description: 'the member of the cluster that has answered; null in embedded mode',
    }),
  })
  .meta({ id: 'SystemInfo', description: 'The service and its enabled parts.' });

/**
 * The version of the service and its enabled parts (runtime.md 15.2).
 *
 * @example
 * ```ts
 * const { version, scope_id, audit_log_enabled }: SystemInfo = await client.system.info();
 * ```
 */
export type SystemInfo = z.infer<typeof SystemInfo>;

export const RunSummary = z
  .object({ running: z.int(), waiting: z.int(), created: z.int() })
  .meta({ id: 'RunSummary', description: 'Runs by status.' });
/**
 * The numbers of open runs by status (runtime.md 5.2).
 *
 * @example
 * ```ts
 * const isIdle = ({ running, waiting, created }: RunSummary): boolean => running + waiting + created === 0;
 * console.log(isIdle(await client.system.runs()));
 * ```
 */
export type RunSummary = z.infer<typeof RunSummary>;
