import { Integrity } from '../../schema/outcome.ts';
import type { SessionSource } from '../../schema/session.ts';
import type { Batch } from '../engine/batch.ts';
import type { Environment } from '../engine/environment.ts';
import { isId } from '../engine/keys.ts';
import type { Columns } from '../engine/sink.ts';

/**
 * Sessions, by id, with a list for each user (identity.md 2.5). A row contains no secret; `credentials.ts` finds it by
 * the digest of the session token.
 *
 * Guarantees: the last use is a separate row, so that it is written without reading the session. An ended session has
 * no row.
 */
export type SessionRow = {
  id: string;
  scope: string;
  /** The user, or `~admin` for the admin token. */
  user: string;
  digest: string;
  source: SessionSource;
  user_agent: string | null;
  /** The address from which it was created. */
  ip: string;
  created_at: number;
  expires_at: number;
};

export type SessionUse = { at: number; ip: string };

export type SessionTable = {
  get(id: string): SessionRow | undefined;
  /** Oldest first. */
  ofUser(scope: string, user: string): SessionRow[];
  put(batch: Batch, session: SessionRow): void;
  remove(batch: Batch, session: SessionRow): void;
  use(id: string): SessionUse | undefined;
  putUse(batch: Batch, id: string, use: SessionUse): void;
  /** Returns sessions that expire before this time, earliest first, at most `max`. */
  expiredBefore(ms: number, max: number): SessionRow[];
  /** Returns the number of sessions that expire after this time. */
  count(now: number): number;
};

/** The columns of a shipped row. */
export const sessionColumns = ({ scope, user, expires_at }: SessionRow): Columns => ({
  scope,
  a: user,
  at: expires_at,
});

export const createSessionTable = (env: Environment): SessionTable => {
  const rows = env.table<SessionRow>('sessions');
  const ofUsers = env.table<true>('user_sessions');
  const uses = env.table<SessionUse>('session_uses');
  const ends = env.table<true>('session_ends');

  const get = (id: string): SessionRow | undefined => (isId(id) ? rows.get([id]) : undefined);

  const listed = (id: string): SessionRow => {
    const row = get(id);
    if (!row) throw new Integrity(`session '${id}' is listed and has no record`);
    return row;
  };

  return {
    get,
    ofUser: (scope, user) =>
      isId(scope) && isId(user)
        ? Array.from(ofUsers.keys({ prefix: [scope, user] }), ([, , id]) => listed(String(id)))
        : [],
    put(batch, session) {
      rows.put(batch, [session.id], session);
      ofUsers.put(batch, [session.scope, session.user, session.id], true);
      ends.put(batch, [session.expires_at, session.id], true);
    },
    remove(batch, session) {
      rows.remove(batch, [session.id]);
      ofUsers.remove(batch, [session.scope, session.user, session.id]);
      ends.remove(batch, [session.expires_at, session.id]);
      uses.remove(batch, [session.id]);
    },
    use: (id) => uses.get([id]),
    putUse: (batch, id, use) => uses.put(batch, [id], use),
    expiredBefore: (ms, max) =>
      Array.from(ends.keys({ prefix: [], to: [ms], limit: max }), (key) => listed(String(key[1]))),
    count: (now) => rows.count({ prefix: [] }) - ends.count({ prefix: [], to: [now] }),
  };
};
