import { z } from 'zod';
import { JsonObject } from './json.ts';

/** Responses about the configuration in addition to its entries (config.md 2.4, 6). */

export const ConfigEntryMeta = z
  .object({
    source: z.object({ kind: z.enum(['user', 'builtin']), binary_version: z.string().optional() }),
    hidden: z.boolean(),
    user_overrides: JsonObject.optional(),
    base: JsonObject.optional().meta({
      description: 'values of the overridden fields without overrides',
    }),
    created_at: z.int().meta({ description: 'milliseconds since the epoch; 0 = unknown' }),
    updated_at: z.int(),
    revision: z.int(),
    version: z.int().meta({ description: 'alias of `revision`' }),
    actor: z.string(),
  })
  .meta({
    id: 'ConfigEntryMeta',
    description: 'Metadata of an entry. Times are milliseconds since the epoch.',
  });
/**
 * The revision, origin and overrides of a configuration entry (config.md 2.4). Times are in milliseconds since the
 * epoch.
 *
 * @example
 * ```ts
 * const { revision, source, user_overrides }: ConfigEntryMeta = await client.config.meta('agents', 'default');
 * if (source.kind === 'builtin') console.log(`revision ${revision} with overrides`, user_overrides);
 * ```
 */
export type ConfigEntryMeta = z.infer<typeof ConfigEntryMeta>;

const Resource = z.object({ namespace: z.string(), id: z.string() });

export const ConfigDiagnostics = z
  .object({
    diagnostics: z.array(
      z.object({
        code: z.string(),
        severity: z.enum(['error', 'warning']),
        resource: Resource,
        depends_on: Resource.optional(),
        field: z.string().optional().meta({ description: 'path in the entry' }),
        message: z.string(),
      }),
    ),
  })
  .meta({ id: 'ConfigDiagnostics', description: 'Problems of the stored configuration.' });
/**
 * The problems of the stored configuration (config.md 6.1). `depends_on` names the missing or invalid entry.
 *
 * @example
 * ```ts
 * const isUsable = (diagnostics: ConfigDiagnostics['diagnostics']): boolean =>
 *   diagnostics.every(({ severity }) => severity !== 'error');
 * console.log(isUsable(await client.config.diagnostics()));
 * ```
 */
export type ConfigDiagnostics = z.infer<typeof ConfigDiagnostics>;
