import type { Clock } from '../../schema/clock.ts';
import { Unauthorized } from '../../schema/outcome.ts';
import type { Principal } from '../../schema/principal.ts';
import type { SessionRow } from '../../store/index.ts';
import { INVALID_CREDENTIAL } from '../credentials/judge.ts';
import { digestOf, isWellFormed, SESSION_PREFIX } from '../credentials/key-format.ts';
import { createRecent } from '../recent.ts';
import {
  checkAdminProof,
  endOf,
  presentSession,
  type SessionDeps,
  type SessionUsed,
  sessionHasEnded,
} from './present-session.ts';

/**
 * Judges sessions (identity.md 2.5).
 *
 * Guarantees: synchronous. A change of the session, of its credential or of its user takes effect at the next request.
 * The last use is kept in memory and written at most once a minute, so a restart can end an idle session up to a minute
 * early, never late.
 * Cost: as for API keys, one hash and one read of a map for a known session.
 */
export type SessionJudge = {
  /**
   * @param ip returns the address of the client; called at most once a minute
   * @throws Unauthorized
   */
  judge(token: string, ip: () => string): Principal;
  /** Returns the last use of a session, and its present principal; undefined if it has ended. */
  look(row: SessionRow): { principal: Principal; used: { at: number; ip: string } } | undefined;
};

export type JudgeDeps = SessionDeps & {
  clock: Clock;
  /** Called when the last use of a session cannot be written. */
  failed(err: unknown): void;
};

type Remembered = {
  readonly principal: Principal;
  readonly revision: number;
  readonly id: string;
  readonly used: SessionUsed;
  notedAt: number;
};

const MOST_REMEMBERED = 10_000;
const NOTED_EVERY_MS = 60_000;

export const createSessionJudge = (deps: JudgeDeps): SessionJudge => {
  const { store, clock, changes, idleMs } = deps;
  const known = createRecent<Remembered>(MOST_REMEMBERED);
  /** A short idle time needs a more exact last use. */
  const notedEveryMs = Math.min(NOTED_EVERY_MS, idleMs / 4);

  const read = (token: string, digest: string, before: Remembered | undefined): Remembered => {
    const credential = store.credentials.get(digest);
    const row = credential?.kind === 'session' ? store.sessions.get(credential.id) : undefined;
    if (!row) throw unknown(token);
    checkAdminProof(deps, row, token);
    const notedAt = store.sessions.use(row.id)?.at ?? row.created_at;
    // The row of the last use may still be on its way.
    const used = before?.used ?? { at: notedAt };
    return {
      principal: presentSession(deps, row, used),
      revision: changes.revision,
      id: row.id,
      used,
      notedAt: Math.max(notedAt, before?.notedAt ?? 0),
    };
  };

  const note = (entry: Remembered, ip: string): void => {
    const { at } = entry.used;
    entry.notedAt = at;
    const { scope, user } = entry.principal;
    const batch = store.batch('commons');
    store.sessions.putUse(batch, entry.id, { at, ip });
    if (user !== undefined) store.users.putSeen(batch, scope, user, at);
    store.commit(batch).catch(deps.failed);
  };

  return {
    judge(token, ip) {
      const digest = digestOf(token);
      const now = clock.now();
      let entry = known.get(digest);
      if (entry?.revision !== changes.revision) {
        entry = read(token, digest, entry);
        known.set(digest, entry);
      }
      if (now >= expiryOf(entry.principal)) throw sessionHasEnded();
      entry.used.at = now;
      if (now - entry.notedAt >= notedEveryMs) note(entry, ip());
      return entry.principal;
    },
    look(row) {
      const stored = store.sessions.use(row.id) ?? { at: row.created_at, ip: row.ip };
      const used = { ...stored, at: Math.max(stored.at, known.get(row.digest)?.used.at ?? 0) };
      if (clock.now() >= Math.min(endOf(deps, row), used.at + idleMs)) return undefined;
      try {
        const principal = presentSession(deps, row, used);
        return clock.now() < expiryOf(principal) ? { principal, used } : undefined;
      } catch (error) {
        if (error instanceof Unauthorized) return undefined;
        throw error;
      }
    },
  };
};

const expiryOf = ({ basis }: Principal): number => basis?.expires_at ?? 0;

/** Rows of ended sessions are removed; a text with a valid checksum was issued as a session. */
const unknown = (token: string): Unauthorized =>
  isWellFormed(SESSION_PREFIX, token) ? sessionHasEnded() : new Unauthorized(INVALID_CREDENTIAL);
