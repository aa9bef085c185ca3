import type { Clock } from '../schema/clock.ts';
import { RateLimited, Unauthorized } from '../schema/outcome.ts';
import { nameOf, type Principal, presentRights } from '../schema/principal.ts';
import { INVALID_CREDENTIAL } from './credentials/judge.ts';
import { createCredential, digestOf, type Randomness, TICKET_PREFIX } from './credentials/key-format.ts';

/**
 * Tickets, with which `EventSource`, which sends no header, opens one event stream (identity.md 2.7).
 *
 * Guarantees: a ticket is accepted once, for one path, within a minute. It acts with the present rights of the
 * principal that created it. Only digests are in memory, and nothing is stored.
 */
export type Tickets = {
  /** @param path the path that it opens, as it will be sent, without the query @throws RateLimited */
  create(principal: Principal, path: string): { ticket: string; expires_at: number };
  /** @throws Unauthorized */
  judge(ticket: string, request: { method: string; path: string }): Principal;
};

type Entry = { principal: Principal; owner: string; path: string; expires_at: number };

const LIFE_MS = 60_000;
/** Bounds of open tickets (identity.md 2.7). */
const MOST_OF_PRINCIPAL = 100;
const MOST = 10_000;

export const createTickets = ({ clock, random }: { clock: Clock; random: Randomness }): Tickets => {
  /** In the order of their creation, which is that of their ends. */
  const open = new Map<string, Entry>();
  const ofOwners = new Map<string, number>();

  const remove = (digest: string, { owner }: Entry): void => {
    open.delete(digest);
    const left = (ofOwners.get(owner) ?? 0) - 1;
    if (left > 0) ofOwners.set(owner, left);
    else ofOwners.delete(owner);
  };

  const removeExpired = (now: number): void => {
    for (const [digest, entry] of open) {
      if (entry.expires_at > now) return;
      remove(digest, entry);
    }
  };

  return {
    create(principal, path) {
      const now = clock.now();
      removeExpired(now);
      const owner = `${principal.scope}\0${nameOf(principal)}`;
      const count = ofOwners.get(owner) ?? 0;
      if (count >= MOST_OF_PRINCIPAL || open.size >= MOST) throw tooMany();
      const ticket = createCredential(TICKET_PREFIX, random);
      const expires_at = now + LIFE_MS;
      open.set(digestOf(ticket), { principal, owner, path, expires_at });
      ofOwners.set(owner, count + 1);
      return { ticket, expires_at };
    },
    judge(ticket, { method, path }) {
      const digest = digestOf(ticket);
      const entry = open.get(digest);
      if (!entry) throw invalid();
      remove(digest, entry);
      const isMeant = method === 'GET' && path === entry.path && clock.now() < entry.expires_at;
      if (!isMeant || hasExpired(entry.principal, clock.now())) throw invalid();
      return byTicket(presentRights(entry.principal));
    },
  };
};

const invalid = (): Unauthorized => new Unauthorized(INVALID_CREDENTIAL);

const hasExpired = ({ basis }: Principal, now: number): boolean =>
  basis !== undefined && now >= basis.expires_at;

const tooMany = (): RateLimited =>
  new RateLimited('too many tickets are open: use the ones that were created, or wait until they expire', {
    code: 'rate_limited',
    details: { bound: 'tickets' },
    retryAfterSecs: LIFE_MS / 1000,
  });

/** The id, the line and the end are those of the credential behind it. */
const byTicket = (principal: Principal): Principal => {
  const { credential, basis } = principal;
  const line = credential.line ?? (credential.kind === 'key' ? credential.id : undefined);
  return {
    ...principal,
    credential: { ...credential, kind: 'ticket', ...(line !== undefined && { line }) },
    ...(basis && {
      basis: {
        users: basis.users,
        revision: basis.revision,
        get expires_at() {
          return basis.expires_at;
        },
        again: () => byTicket(basis.again()),
      },
    }),
  };
};
