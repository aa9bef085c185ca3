import { z } from 'zod';
import { JsonObject } from './json.ts';

/** Changes of the configuration, with their actor and origin (config.md 9.1). Payloads are already redacted. */

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
  'try',
]);
export type AuditAction = z.infer<typeof AuditAction>;

const Payload = JsonObject;

const AuditedCredential = z
  .object({ kind: z.string(), id: z.string().optional() })
  .meta({ description: 'kind of the credential, and its id if it has one' });

/** The caller of a change for the audit log (config.md 9, identity.md 7). */
export type Caller = {
  actor: string;
  ip?: string;
  request_id: string | null;
  user?: string;
  scope?: string;
  credential?: { kind: string; id?: string };
};

/** An event before it has an id, a time and a caller. */
export type AuditDraft = { action: AuditAction; resource: string } & Partial<
  Pick<AuditEvent, 'before' | 'after' | 'restored_from' | 'error' | 'forced' | 'overrides'>
>;

export const AuditEvent = z
  .object({
    id: z.string().meta({ description: 'ULID; events are ordered by it' }),
    ts: z.string().meta({ description: 'RFC 3339, UTC' }),
    actor: z.string(),
    action: AuditAction,
    resource: z.string().meta({ description: '`<namespace>/<id>`' }),
    before: Payload.optional(),
    after: Payload.optional(),
    user: z.string().optional().meta({ description: 'the user, or `~admin`' }),
    scope: z.string().optional().meta({ description: 'scope of the user' }),
    credential: AuditedCredential.optional(),
    ip: z.string(),
    request_id: z.string().nullable(),
    restored_from: z.string().nullable(),
    error: z.string().optional().meta({ description: 'only for `apply_failed`' }),
    forced: z.literal(true).optional(),
    overrides: Payload.optional().meta({
      description: 'override object after a change of overrides; empty when no override is left',
    }),
  })
  .meta({ id: 'AuditEvent', description: 'A change and its actor.' });
/**
 * A change of the configuration, with its actor and origin (config.md 9.1). Payloads are redacted.
 *
 * @example
 * ```ts
 * const describe = ({ ts, actor, action, resource }: AuditEvent): string => `${ts} ${actor}: ${action} ${resource}`;
 * for await (const event of client.audit.list()) console.log(describe(event));
 * ```
 */
export type AuditEvent = z.infer<typeof AuditEvent>;

export const AuditPage = z
  .object({ items: z.array(AuditEvent), next_cursor: z.string().optional() })
  .meta({ id: 'AuditPage', description: 'One page of changes.' });
/**
 * One page of the audit log, newest first. The last page has no `next_cursor`.
 *
 * @example
 * ```ts
 * const { items, next_cursor }: AuditPage = await client.audit.list({ resource: 'agents', limit: 20 });
 * ```
 */
export type AuditPage = z.infer<typeof AuditPage>;

const ULID = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;

export const isUlid = (text: string): boolean => ULID.test(text);
