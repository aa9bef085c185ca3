import { z } from 'zod';
import { listReply } from '../http/list-reply.ts';
import { route } from '../http/route.ts';
import { AccessKind, AccessPage } from '../schema/access-event.ts';
import { Forbidden, Invalid } from '../schema/outcome.ts';
import { Cursor, count } from '../schema/paging.ts';
import { may, type Principal } from '../schema/principal.ts';
import { instant } from './instant.ts';
import type { RouteDeps } from './route-deps.ts';

/** The access log (identity.md 7). */

const AccessQuery = z.object({
  kind: AccessKind.optional().meta({ description: 'only this kind of event' }),
  user: z.string().optional().meta({ description: 'only this user; `~admin`: the admin token' }),
  credential: z.string().optional().meta({ description: 'only this credential, by its id' }),
  ip: z.string().optional().meta({ description: 'only this address' }),
  of_scope: z.string().optional().meta({
    description: 'only this scope; default: every scope with `observe`, else the scope of the caller',
  }),
  since: instant.optional().meta({ description: 'RFC 3339, inclusive' }),
  until: instant.optional().meta({ description: 'RFC 3339, exclusive' }),
  limit: count.transform(Number).optional().meta({ description: 'clamped to 1..1000; default 100' }),
  cursor: Cursor,
});

export const accessLogRoutes = ({ accessLog }: Pick<RouteDeps, 'accessLog'>) => [
  route.get('/v1/access-log', {
    id: 'listAccessEvents',
    summary: 'Sign-ins, decisions, refused requests and connected accounts, newest first',
    description:
      'With `observe` of every scope, with `manage` of the scope of the caller. Equal denials of one client within a minute are one event with a `count`. The retention is a setting.',
    tag: 'identity',
    needs: ['observe', 'manage'],
    query: AccessQuery,
    responses: { 200: AccessPage },
    async handle({ principal, query: { of_scope, ...query } }) {
      const { user, credential, ip } = query;
      if ([user, credential, ip].filter((filter) => filter !== undefined).length > 1)
        throw new Invalid('give one of user, credential and ip');
      const scope = scopeIn(principal, of_scope);
      const { texts, next_cursor } = await accessLog.page({
        ...query,
        ...(scope !== undefined && { scope }),
      });
      return listReply('items', texts, { next_cursor });
    },
  }),
];

/** Undefined for every scope. @throws Forbidden */
const scopeIn = (principal: Principal, of_scope: string | undefined): string | undefined => {
  if (may(principal, ['observe'])) return of_scope;
  if (of_scope !== undefined && of_scope !== principal.scope)
    throw new Forbidden('the access log of other scopes needs the grant observe', {
      code: 'forbidden',
      details: { needs: ['observe'] },
    });
  return principal.scope;
};
