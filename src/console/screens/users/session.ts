import { anything, type Guarded, list, nullable, number, object, optional, text } from '../../data/guard.ts';
import { invalidate, type Resource } from '../../data/queries.ts';
import { pathOf, send } from '../../data/request.ts';

/** Sessions, with which browsers are signed in (identity.md 2.5). */

const SESSIONS = '/v1/sessions';

const Session = object({
  id: text,
  user_agent: nullable(text),
  ip: optional(text),
  created_at: number,
  last_used_at: optional(number),
  last_used_ip: optional(text),
  expires_at: optional(number),
  current: (value) => value === true,
});
export type Session = Guarded<typeof Session>;

export const sessionsOf = (user: string): Resource<{ items: Session[] }> => ({
  path: SESSIONS,
  query: { user },
  guard: object({ items: list(Session) }),
  off: { statuses: [404] },
});

export const endSession = async (id: string): Promise<void> => {
  await send({ method: 'DELETE', path: pathOf`/v1/sessions/${id}` }, anything);
  invalidate(SESSIONS);
};

const BROWSERS = [
  ['Edg/', 'Edge'],
  ['OPR/', 'Opera'],
  ['Firefox/', 'Firefox'],
  ['Chrome/', 'Chrome'],
  ['Safari/', 'Safari'],
] as const;

const SYSTEMS = [
  ['Android', 'Android'],
  ['iPhone', 'iOS'],
  ['iPad', 'iPadOS'],
  ['Windows', 'Windows'],
  ['Mac OS X', 'macOS'],
  ['Linux', 'Linux'],
] as const;

/** A short name of a browser, such as `Firefox · Linux`; the whole text if it is of another kind. */
export const browserOf = (agent: string | null): string => {
  if (agent === null) return '—';
  const named = (names: readonly (readonly [string, string])[]): string | undefined =>
    names.find(([mark]) => agent.includes(mark))?.[1];
  return [named(BROWSERS), named(SYSTEMS)].filter(Boolean).join(' · ') || agent;
};
