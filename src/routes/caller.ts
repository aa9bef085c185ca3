import { createHash } from 'node:crypto';
import { readCookie, SESSION_COOKIE } from '../http/cookies.ts';
import type { RouteRequest } from '../http/route.ts';
import type { By } from '../identity/index.ts';
import type { Caller } from '../schema/audit-event.ts';
import { nameOf } from '../schema/principal.ts';

/** Identifies the caller in the audit log (config.md 9.1, 9.2). The token itself is never included. */
export const identifyCaller = (
  request: Pick<RouteRequest<unknown, unknown, unknown>, 'header' | 'ip' | 'requestId' | 'principal'>,
): Caller => ({
  actor: actorOf(bearerOf(request), request.header('x-service-actor')),
  ip: request.ip(),
  request_id: request.requestId,
  user: nameOf(request.principal),
  scope: request.principal.scope,
  credential: request.principal.credential,
});

/** A session cookie is read as the token of a bearer. */
const bearerOf = ({
  header,
  principal: { credential },
}: Pick<RouteRequest<unknown, unknown, unknown>, 'header' | 'principal'>): string | undefined => {
  const authorization = header('authorization');
  if (authorization !== undefined || credential.kind !== 'session') return authorization;
  const session = readCookie(header('cookie'), SESSION_COOKIE);
  return session === undefined ? undefined : `Bearer ${session}`;
};

const ACTOR_DIGITS = 16;

const actorOf = (authorization: string | undefined, label = ''): string => {
  const space = authorization?.indexOf(' ') ?? -1;
  const actor =
    authorization === undefined || space < 0
      ? 'anonymous'
      : createHash('sha256')
          .update(authorization.slice(space + 1))
          .digest('hex')
          .slice(0, ACTOR_DIGITS);
  const name = label.trim();
  return LABEL.test(name) ? `${actor}/${name}` : actor;
};

/** Printable ASCII. */
const LABEL = /^[\x20-\x7e]{1,64}$/;

/** The principal of a request, and the same in the form of the audit log. */
export const byOf = (request: Parameters<typeof identifyCaller>[0]): By => ({
  principal: request.principal,
  caller: identifyCaller(request),
});
