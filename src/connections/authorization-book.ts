import type { Account } from '../schema/account.ts';
import type { AuthorizationHead, AuthorizationRow } from '../schema/authorization.ts';
import type { Store } from '../store/index.ts';

/**
 * The stored authorizations, and their heads in memory: a few per user, each for a day.
 *
 * Guarantees: a head is that of the last commit.
 */
export type AuthorizationBook = {
  head(id: string): AuthorizationHead | undefined;
  /** With its secrets. */
  read(id: string): AuthorizationRow | undefined;
  all(): AuthorizationHead[];
  ofAccount(account: Account): AuthorizationHead[];
  /** The one that has not led to a connection, if there is any. */
  unfinished(account: Account, server: string): AuthorizationHead | undefined;
  countUnfinished(account: Account): number;
  withState(digest: string): AuthorizationHead | undefined;
  save(row: AuthorizationRow): Promise<void>;
  remove(id: string): Promise<void>;
};

export const createAuthorizationBook = (
  store: Pick<Store, 'authorizations' | 'batch' | 'commit'>,
): AuthorizationBook => {
  const heads = new Map<string, AuthorizationHead>();
  const idsByAccount = new Map<string, Set<string>>();
  const idsByState = new Map<string, string>();

  const forget = (id: string): void => {
    const head = heads.get(id);
    if (!head) return;
    heads.delete(id);
    if (head.started) idsByState.delete(head.started.state_digest);
    const key = keyOf(head);
    const ids = idsByAccount.get(key);
    ids?.delete(id);
    if (ids?.size === 0) idsByAccount.delete(key);
  };
  const note = (head: AuthorizationHead): void => {
    forget(head.id);
    heads.set(head.id, head);
    if (head.started) idsByState.set(head.started.state_digest, head.id);
    const key = keyOf(head);
    idsByAccount.set(key, (idsByAccount.get(key) ?? new Set()).add(head.id));
  };
  for (const head of store.authorizations.heads()) note(head);

  const ofAccount = (account: Account): AuthorizationHead[] =>
    [...(idsByAccount.get(keyOf(account)) ?? [])].flatMap((id) => heads.get(id) ?? []);
  const unfinishedOf = (account: Account): AuthorizationHead[] =>
    ofAccount(account).filter(({ state }) => state !== 'connected');

  return {
    head: (id) => heads.get(id),
    read: (id) => (heads.has(id) ? store.authorizations.get(id) : undefined),
    all: () => [...heads.values()],
    ofAccount,
    unfinished: (account, server) => unfinishedOf(account).find((head) => head.server === server),
    countUnfinished: (account) => unfinishedOf(account).length,
    withState(digest) {
      const id = idsByState.get(digest);
      return id === undefined ? undefined : heads.get(id);
    },
    async save(row) {
      const batch = store.batch('commons');
      store.authorizations.put(batch, row);
      await store.commit(batch, 'input');
      const { attempt: _secret, unconfirmed: _secrets, ...head } = row;
      note(head);
    },
    async remove(id) {
      const batch = store.batch('commons');
      store.authorizations.remove(batch, id);
      await store.commit(batch, 'progress');
      forget(id);
    },
  };
};

/** No user equals no user. */
export const isOfAccount = (head: Account, { scope, user }: Account): boolean =>
  head.scope === scope && head.user === user;

const keyOf = ({ scope, user }: Account): string => JSON.stringify([scope, user ?? null]);
