import { z } from 'zod';
import { listReply } from '../http/list-reply.ts';
import { route } from '../http/route.ts';
import { AuditAction, AuditPage } from '../schema/audit-event.ts';
import { Invalid } from '../schema/outcome.ts';
import { Cursor, count } from '../schema/paging.ts';
import { instant } from './instant.ts';
import { requireConfig } from './managed.ts';
import type { RouteDeps } from './route-deps.ts';

/** The audit log (config.md 9.3). */

const AuditQuery = z.object({
  resource: z.string().optional().meta({ description: 'exact, or the part before a `/`' }),
  action: AuditAction.optional().meta({ description: 'only this kind of change' }),
  actor: z.string().optional().meta({ description: 'prefix; not together with `user`' }),
  user: z.string().optional().meta({ description: 'only changes by this user; `~admin`: the admin token' }),
  since: instant.optional().meta({ description: 'RFC 3339, inclusive' }),
  until: instant.optional().meta({ description: 'RFC 3339, exclusive' }),
  limit: count.transform(Number).optional().meta({ description: 'clamped to 1..1000; default 100' }),
  cursor: Cursor,
});

export const auditLogRoutes = (deps: Pick<RouteDeps, 'config'>) => [
  route.get('/v1/audit-log', {
    id: 'listAuditEvents',
    summary: 'Configuration changes, newest first',
    description:
      'Actor, entry, and the values before and after the change, without secrets. The retention is a setting.',
    tag: 'config',
    needs: 'observe',
    query: AuditQuery,
    responses: { 200: AuditPage },
    handle({ query }) {
      if (query.actor !== undefined && query.user !== undefined) {
        throw new Invalid('give either actor or user: an actor is a credential of one user');
      }
      const { texts, next_cursor } = requireConfig(deps).audit.page(query);
      return listReply('items', texts, { next_cursor });
    },
  }),
];
