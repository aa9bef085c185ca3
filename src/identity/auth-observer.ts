import type { AccessDraft, AccessObserver, AccessPlace } from '../schema/access-event.ts';
import { Forbidden, RateLimited, type Rejection, Unauthorized } from '../schema/outcome.ts';
import type { AuthObserver } from '../schema/presented.ts';
import { type CredentialKind, NOBODY, nameOf, type Principal } from '../schema/principal.ts';
import type { AccessLog } from './access-log/log.ts';
import { readBearer } from './bearer.ts';
import { KEY_PREFIX, SESSION_PREFIX, TICKET_PREFIX } from './credentials/key-format.ts';
import { isCompactToken } from './issuers/index.ts';

/** Counts authentications by kind of credential and by result, and keeps the access log (identity.md 7). */

/** `none`: no credential where one is needed, or a credential of an unknown form. */
export type AuthKind = CredentialKind | 'none';

export type AuthResult = 'ok' | Rejection | 'forbidden' | 'limited';

export const createAuthObserver = (
  count: (kind: AuthKind, result: AuthResult) => void,
  log: Pick<AccessLog, 'record' | 'adminUsed'>,
): AuthObserver => ({
  admitted(principal, { route, address }) {
    const { kind } = principal.credential;
    count(principal === NOBODY ? 'none' : kind, 'ok');
    if (kind === 'admin') log.adminUsed(principal.scope, { route, ip: address() });
  },
  rejected(by, error, { route, address }) {
    const result = resultOf(error);
    if (result === undefined) return;
    const [kind, actor] = 'authority' in by ? [by.credential.kind, actorOf(by)] : [kindOf(by), {}];
    count(kind, result);
    log.record({ kind: 'denied', ...actor, ip: address(), route, reason: messageOf(error) });
  },
  denied(principal, error, place) {
    if (error instanceof Forbidden)
      log.record({ ...eventOf('denied', principal, place), reason: error.message });
  },
});

/** Records what sessions and connections report. */
export const createAccessObserver = ({ record }: Pick<AccessLog, 'record'>): AccessObserver => ({
  signedIn: (principal, at) => record(eventOf('sign_in', principal, at)),
  signedOut: (principal, at) => record(eventOf('sign_out', principal, at)),
  signInFailed: ({ reason, scope, user }, at) =>
    record({
      kind: 'sign_in_failed',
      ...(scope !== undefined && { scope }),
      ...(user !== undefined && { user }),
      ip: at.ip(),
      route: at.route,
      reason,
    }),
  connected: (principal, server, at) => record({ ...eventOf('connect', principal, at), reason: server }),
  disconnected: (principal, server, at) =>
    record({ ...eventOf('disconnect', principal, at), reason: server }),
});

const eventOf = (kind: AccessDraft['kind'], principal: Principal, at: AccessPlace): AccessDraft => ({
  kind,
  ...actorOf(principal),
  ip: at.ip(),
  route: at.route,
});

const actorOf = (principal: Principal | undefined): Pick<AccessDraft, 'scope' | 'user' | 'credential'> => {
  if (!principal || principal === NOBODY) return {};
  const { scope, credential } = principal;
  const { kind, id } = credential;
  return { scope, user: nameOf(principal), credential: { kind, ...(id !== undefined && { id }) } };
};

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Undefined for failures that say nothing about the credential, such as an unreachable identity provider. */
const resultOf = (error: unknown): AuthResult | undefined => {
  if (error instanceof Unauthorized) return error.reason;
  if (error instanceof Forbidden) return 'forbidden';
  return error instanceof RateLimited ? 'limited' : undefined;
};

/** A token of another form can only have been meant as the admin token. */
const kindOf = (authorization: readonly string[]): AuthKind => {
  const token = tokenIn(authorization);
  if (token === undefined) return 'none';
  const issued = ISSUED.find(([prefix]) => token.startsWith(prefix));
  if (issued) return issued[1];
  return isCompactToken(token) ? 'jwt' : 'admin';
};

const ISSUED = [
  [KEY_PREFIX, 'key'],
  [SESSION_PREFIX, 'session'],
  [TICKET_PREFIX, 'ticket'],
] as const;

const tokenIn = (authorization: readonly string[]): string | undefined => {
  try {
    const bearer = readBearer(authorization);
    return bearer.kind === 'bearer' ? bearer.token : undefined;
  } catch {
    return undefined;
  }
};
