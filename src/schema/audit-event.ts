import { z } from 'zod';
import { JsonObject } from './json.ts';

/** Who changed what in the configuration, and from where (config.md 9.1). Payloads are redacted already. */

export const AuditAction = z.enum([
  'create',
  'update',
  'delete',
  'restart',
  'publish',
  'restore',
  'seed_apply',
  'apply_failed',
  'tools_changed',
  'tools_accepted',
]);
export type AuditAction = z.infer<typeof AuditAction>;

const Payload = JsonObject;

export const AuditEvent = z
  .object({
    id: z.string().meta({ description: 'ULID; events are ordered by it' }),
    ts: z.string().meta({ description: 'RFC 3339, UTC' }),
    actor: z.string(),
    action: AuditAction,
    resource: z.string().meta({ description: '`<namespace>/<id>`' }),
    before: Payload.optional(),
    after: Payload.optional(),
    ip: z.string(),
    request_id: z.string().nullable(),
    restored_from: z.string().nullable(),
    error: z.string().optional().meta({ description: 'of `apply_failed` only' }),
    forced: z.literal(true).optional(),
    overrides: Payload.optional().meta({
      description: 'override object after a change of overrides; empty when none is left',
    }),
  })
  .meta({ id: 'AuditEvent', description: 'A change, and who made it.' });
export type AuditEvent = z.infer<typeof AuditEvent>;

export const AuditPage = z
  .object({ items: z.array(AuditEvent), next_cursor: z.string().optional() })
  .meta({ id: 'AuditPage', description: 'One page of changes.' });
export type AuditPage = z.infer<typeof AuditPage>;

const ULID = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;

export const isUlid = (text: string): boolean => ULID.test(text);
