import { createHash, createHmac, randomBytes } from 'node:crypto';
import { IllegalTransition } from '../../machines/advance.ts';
import type { Account } from '../schema/account.ts';
import type { AuthorizationHead, AuthorizationRow, StartedTry } from '../schema/authorization.ts';
import type { Clock, Ids } from '../schema/clock.ts';
import type { JsonObject } from '../schema/json.ts';
import { createLock } from '../schema/lock.ts';
import { Conflict, Forbidden, NotFound, RateLimited } from '../schema/outcome.ts';
import type { Store } from '../store/index.ts';
import { type AuthorizationBook, createAuthorizationBook, isOfAccount } from './authorization-book.ts';
import { ConnectionFailure } from './failure.ts';
import { afterEvent, endOfOffer, isOpen, offeredAgain, sinceExpiry } from './try.ts';
import type { AuthorizationAttempt, Connections, GrantedTokens } from './types.ts';

/**
 * Authorizations: how the account of a user becomes connected to a server (identity.md 6.2).
 *
 * Guarantees: every transition is committed before its consequence is visible, and a code is exchanged once, also after
 * a crash. An account has at most one unfinished authorization for each server, which all its waiting calls share.
 * Relies on routes to establish whose browser or credential a request comes from.
 * Cost: the heads of one day are in memory; requests to other services are made outside the lock.
 */
export type Authorizations = {
  /** Returns the unfinished authorization of the account, or offers a new one. @throws RateLimited */
  offer(account: Account, server: string, scopes: readonly string[]): Promise<AuthorizationHead>;
  find(id: string): AuthorizationHead | undefined;
  /**
   * Returns the address that the browser is sent to, or the scopes that the user of a browser must confirm first.
   * @throws NotFound, Conflict, ConnectionFailure
   */
  start(id: string, how: StartHow): Promise<Started | Unconfirmed>;
  /** Returns the authorization that a callback belongs to. */
  ofCallback(query: URLSearchParams): AuthorizationHead | undefined;
  /** Processes a callback, of which the caller has established the browser. @throws NotFound */
  finish(query: URLSearchParams): Promise<Finished>;
  /** @throws NotFound, Forbidden */
  confirm(id: string, by: Account, code: string): Promise<AuthorizationHead>;
  /** Removes those of a deleted user. */
  removeAll(account: Account): Promise<void>;
  /** Continues those that an earlier process left behind. */
  recover(): Promise<void>;
  /** Expires and removes old ones. */
  sweep(): Promise<void>;
};

/** `confirmed`: the proof that the scopes were shown to the user. An app shows the scopes itself. */
export type StartHow = { by: 'browser'; confirmed: string | undefined } | { by: 'app'; return_to: string };

export type Started = { url: string };

export type Unconfirmed = { server: string; issuer: string; scopes: readonly string[]; proof: string };

/** The end of a callback; `code` confirms the tokens of an app. */
export type Finished = {
  authorization: AuthorizationHead;
  code: string | undefined;
  problem: string | undefined;
};

export type AuthorizationResult = 'connected' | 'declined' | 'failed' | 'expired';

export type AuthorizationsDeps = {
  store: Pick<Store, 'authorizations' | 'batch' | 'commit'>;
  connections: Pick<Connections, 'discover' | 'begin' | 'exchange' | 'store' | 'discard' | 'list'>;
  clock: Clock;
  ids: Ids;
  /** Returns the addresses of this service, which depend on the bound port. */
  addresses(): { redirectUri: string; clientDocument: string | undefined };
  observe(server: string, result: AuthorizationResult): void;
  /** Called when an account has been connected; must not throw. */
  connected(account: Account, server: string): void;
};

/** Unfinished authorizations of one user. */
export const MOST_OPEN = 100;

export const createAuthorizations = (deps: AuthorizationsDeps): Authorizations => {
  const { store, clock, ids, connections } = deps;
  const book = createAuthorizationBook(store);
  const lock = createLock();
  const context: Context = { deps, book, secret: randomBytes(32) };

  /** @throws NotFound */
  const current = (id: string): AuthorizationRow => {
    const row = book.read(id);
    if (!row) throw new NotFound(`authorization not found: ${id}`);
    return sinceExpiry(row, clock.now());
  };

  return {
    offer: (account, server, scopes) =>
      lock(async () => {
        const known = book.unfinished(account, server);
        if (!known && book.countUnfinished(account) >= MOST_OPEN)
          throw new RateLimited(`user has ${MOST_OPEN} open authorizations, the most that are allowed`, {
            code: 'rate_limited',
            details: { bound: 'open authorizations' },
          });
        const offered_at = clock.now();
        const row: AuthorizationRow = known
          ? { ...current(known.id), offered_at, scopes: union(known.scopes, scopes) }
          : {
              id: ids.uuid(),
              ...account,
              server,
              issuer: undefined,
              resource: undefined,
              state: 'offered',
              scopes: union([], scopes),
              offered_at,
              started: undefined,
            };
        return save(context, isOpen(row) ? row : offeredAgain(row, offered_at));
      }),
    find(id) {
      const head = book.head(id);
      return head && sinceExpiry(head, clock.now());
    },
    start: (id, how) => start(context, lock, current, id, how),
    ofCallback: (query) => book.withState(digestOf(query.get('state') ?? '')),
    finish: (query) => finish(context, lock, current, query),
    confirm: (id, by, code) => lock(() => confirm(context, current(id), by, code)),
    removeAll: (account) =>
      lock(async () => {
        for (const { id } of book.ofAccount(account)) {
          await discardUnconfirmed(connections, book.read(id));
          await book.remove(id);
        }
      }),
    recover: () => lock(() => recover(context)),
    sweep: () => lock(() => sweep(context)),
  };
};

/** `secret`: proves that this process has shown scopes. */
type Context = { deps: AuthorizationsDeps; book: AuthorizationBook; secret: Buffer };
type Current = (id: string) => AuthorizationRow;
type Lock = ReturnType<typeof createLock>;

/** Commits the row, and counts its end. */
async function save({ deps, book }: Context, row: AuthorizationRow): Promise<AuthorizationHead> {
  const before = book.head(row.id);
  await book.save(row);
  const hasExpired = before && isOpen(before) && !isOpen(sinceExpiry(before, deps.clock.now()));
  if (hasExpired) deps.observe(row.server, 'expired');
  if (!(hasExpired && row.state === 'expired') && row.state !== before?.state && isEnd(row.state))
    deps.observe(row.server, row.state);
  return row;
}

const ENDS: ReadonlySet<string> = new Set<AuthorizationResult>([
  'connected',
  'declined',
  'failed',
  'expired',
]);

const isEnd = (state: string): state is AuthorizationResult => ENDS.has(state);

async function start(
  context: Context,
  lock: Lock,
  current: Current,
  id: string,
  how: StartHow,
): Promise<Started | Unconfirmed> {
  const { connections, clock, addresses } = context.deps;
  const { server, scopes: needed } = current(id);
  const facts = await connections.discover(server);
  const scopes = needed.length > 0 ? needed : facts.scopes;
  const proof = createHmac('sha256', context.secret)
    .update(JSON.stringify([id, scopes]))
    .digest('base64url');
  if (facts.confirm_scopes && how.by === 'browser' && how.confirmed !== proof)
    return { server, issuer: facts.issuer, scopes, proof };
  const begun = await connections.begin({ server, scopes, ...addresses() });
  return lock(async () => {
    const now = clock.now();
    const row = current(id);
    if (endOfOffer(row) <= now) throw new NotFound(`authorization not found: ${id}`);
    const open = isOpen(row) ? row : offeredAgain(row, row.offered_at);
    const next = moved(open, { type: 'START' });
    await discardUnconfirmed(connections, row);
    const { unconfirmed: _dropped, ...kept } = next;
    const started: StartedTry = { at: now, state_digest: digestOf(begun.state), ...byOf(how) };
    const { issuer, resource } = begun.attempt;
    const attempt = asStored(begun.attempt);
    await save(context, sinceExpiry({ ...kept, issuer, resource, started, attempt }, now));
    return { url: begun.url };
  });
}

const byOf = (how: StartHow) =>
  how.by === 'app' ? ({ by: 'app', return_to: how.return_to } as const) : ({ by: 'browser' } as const);

async function finish(
  context: Context,
  lock: Lock,
  current: Current,
  query: URLSearchParams,
): Promise<Finished> {
  const { connections } = context.deps;
  const found = context.book.withState(digestOf(query.get('state') ?? ''));
  if (!found) throw new NotFound('this callback belongs to no authorization');
  const isDenied = query.has('error');
  const row = await lock(async () => {
    const next = moved(current(found.id), { type: isDenied ? 'REFUSED' : 'CODE' });
    await save(context, next);
    return next;
  });
  if (isDenied) return { authorization: row, code: undefined, problem: 'denied' };
  try {
    if (!row.attempt) throw new ConnectionFailure('refused', 'the try has no attempt');
    const tokens = await connections.exchange(attemptIn(row.attempt), query);
    return await lock(() => receive(context, row, tokens));
  } catch (error) {
    const failed = await lock(() => fail(context, found.id));
    if (!(error instanceof ConnectionFailure)) throw error;
    return { authorization: failed ?? row, code: undefined, problem: error.message };
  }
}

/** The exchange has failed; its try may have expired, or been removed with its user, in the meantime. */
async function fail(context: Context, id: string): Promise<AuthorizationHead | undefined> {
  const stored = context.book.read(id);
  const row = stored && sinceExpiry(stored, context.deps.clock.now());
  if (row?.state !== 'exchanging') return row && save(context, row);
  const { attempt: _used, ...failed } = moved(row, { type: 'FAILED' });
  return save(context, failed);
}

/** Tokens of a try that has ended in the meantime are revoked. */
async function receive(context: Context, begun: AuthorizationRow, tokens: GrantedTokens): Promise<Finished> {
  const { connections, clock } = context.deps;
  const stored = context.book.read(begun.id);
  const row = stored && sinceExpiry(stored, clock.now());
  if (row?.state !== 'exchanging') {
    await connections.discard(tokens);
    const problem = 'the authorization has expired';
    return { authorization: row ? await save(context, row) : begun, code: undefined, problem };
  }
  const isKnown = row.started?.by === 'browser';
  const { attempt: _used, ...next } = moved(row, { type: 'TOKENS', isKnown });
  if (isKnown) {
    return { authorization: await connect(context, next, tokens), code: undefined, problem: undefined };
  }
  const code = randomBytes(32).toString('base64url');
  const unconfirmed = { tokens: asStored(tokens), code_digest: digestOf(code) };
  return { authorization: await save(context, { ...next, unconfirmed }), code, problem: undefined };
}

/** The tokens are committed first: a crash in between leaves an account that `recover` finds connected. */
async function connect(
  context: Context,
  next: AuthorizationRow,
  tokens: GrantedTokens,
): Promise<AuthorizationHead> {
  const { deps } = context;
  const { attempt: _used, unconfirmed: _stored, ...row } = next;
  await deps.connections.store(accountOf(row), row.server, tokens);
  await save(context, row);
  deps.connected(accountOf(row), row.server);
  return row;
}

async function confirm(
  context: Context,
  row: AuthorizationRow,
  by: Account,
  code: string,
): Promise<AuthorizationHead> {
  const { unconfirmed } = row;
  if (row.state !== 'unconfirmed' || !unconfirmed)
    throw new NotFound(`no tokens of authorization '${row.id}' wait for a confirmation`);
  if (digestOf(code) !== unconfirmed.code_digest)
    throw new Forbidden('the code is not that of this authorization', { code: 'forbidden' });
  if (isOfAccount(row, by))
    return connect(context, moved(row, { type: 'CONFIRM' }), tokensIn(unconfirmed.tokens));
  const { unconfirmed: _dropped, ...failed } = moved(row, { type: 'FAILED' });
  await save(context, failed);
  await context.deps.connections.discard(tokensIn(unconfirmed.tokens));
  throw new Forbidden('another user began this authorization', { code: 'forbidden' });
}

/** A code may have been sent before the process ended, so its exchange is not repeated. */
async function recover(context: Context): Promise<void> {
  const { deps, book } = context;
  for (const head of book.all()) {
    const row = head.state === 'exchanging' ? book.read(head.id) : undefined;
    if (!row) continue;
    const { attempt: _used, ...ended } = isStored(deps, row)
      ? moved(row, { type: 'TOKENS', isKnown: true })
      : moved(row, { type: 'FAILED' });
    await save(context, ended);
  }
  await sweep(context);
}

/** The tokens were committed, but not the end of their try. */
const isStored = ({ connections }: AuthorizationsDeps, { started, ...row }: AuthorizationRow): boolean =>
  started !== undefined &&
  connections
    .list(accountOf(row))
    .some(({ server, connected_at }) => server === row.server && connected_at >= started.at);

async function sweep(context: Context): Promise<void> {
  const { deps, book } = context;
  const now = deps.clock.now();
  for (const head of book.all()) {
    const row = sinceExpiry(head, now);
    if (row.state !== head.state) {
      const { attempt: _late, unconfirmed: _never, ...kept } = { ...book.read(head.id), ...row };
      await discardUnconfirmed(deps.connections, book.read(head.id));
      await save(context, kept);
    }
    if (endOfOffer(head) <= now) await book.remove(head.id);
  }
}

async function discardUnconfirmed(
  connections: Pick<Connections, 'discard'>,
  row: AuthorizationRow | undefined,
): Promise<void> {
  if (row?.unconfirmed) await connections.discard(tokensIn(row.unconfirmed.tokens));
}

/** @throws Conflict if the state does not allow the event */
function moved(row: AuthorizationRow, event: Parameters<typeof afterEvent>[1]): AuthorizationRow {
  try {
    return afterEvent(row, event);
  } catch (error) {
    if (error instanceof IllegalTransition)
      throw new Conflict(`authorization '${row.id}' is ${row.state}`, { cause: error });
    throw error;
  }
}

const accountOf = ({ scope, user }: Account): Account => ({ scope, user });

const union = (a: readonly string[], b: readonly string[]): readonly string[] => [...new Set([...a, ...b])];

const digestOf = (text: string): string => createHash('sha256').update(text).digest('base64url');

// Attempts and tokens are JSON (types.ts), and only this module writes them into a row.
const asStored = (value: AuthorizationAttempt | GrantedTokens): JsonObject =>
  JSON.parse(JSON.stringify(value)) as JsonObject;
const attemptIn = (value: JsonObject): AuthorizationAttempt => value as unknown as AuthorizationAttempt;
const tokensIn = (value: JsonObject): GrantedTokens => value as unknown as GrantedTokens;
