import { z } from 'zod';
import { JsonObject } from './json.ts';

/** What is told of the configuration beside its entries (config.md 2.4, 6). */

export const ConfigEntryMeta = z
  .object({
    source: z.object({ kind: z.enum(['user', 'builtin']), binary_version: z.string().optional() }),
    hidden: z.boolean(),
    user_overrides: JsonObject.optional(),
    base: JsonObject.optional().meta({
      description: 'what the overridden fields say without their overrides',
    }),
    created_at: z.int().meta({ description: 'milliseconds since the epoch; 0 = unknown' }),
    updated_at: z.int(),
    revision: z.int(),
    version: z.int().meta({ description: 'the same as `revision`' }),
    actor: z.string(),
  })
  .meta({
    id: 'ConfigEntryMeta',
    description: 'What is known of an entry beside what it says. Times are milliseconds since the epoch.',
  });
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
        message: z.string(),
      }),
    ),
  })
  .meta({ id: 'ConfigDiagnostics', description: 'What is wrong with the stored configuration.' });
export type ConfigDiagnostics = z.infer<typeof ConfigDiagnostics>;
