import { allows, parseTokenGrants } from '../../schema/grants.ts';
import { ADMIN_NAME, type Credential, type Principal } from '../../schema/principal.ts';
import type { KeyRow, Store } from '../../store/index.ts';

/**
 * The users behind a run and behind a decision, for calls that others must decide (identity.md 4, rule 3): the user
 * itself, and for an API key, or a session made from one, also its user and the user who made it.
 */

export type People = Pick<Store, 'keys' | 'users'>;

/** A run, or the principal of a decision. */
type Side = { user?: string | undefined; credential?: Credential | undefined };

/** Returns a user that both sides have in common, or undefined. */
export const commonUser = (
  people: People,
  scope: string,
  run: Side,
  decider: Principal,
): string | undefined => {
  // Input without a user is of the admin token or anonymous; nothing proves that the decision is of another person.
  if (decider.user === undefined) return run.user === undefined ? ADMIN_NAME : undefined;
  const behind = usersBehind(people, scope, run);
  return usersBehind(people, scope, decider).find((user) => behind.includes(user));
};

const usersBehind = (people: People, scope: string, { user, credential }: Side): string[] => [
  ...(user === undefined ? [] : [user]),
  ...keysBehind(people, scope, { user, credential }).flatMap((key) => [
    key.user,
    ...(isAdmin(people, scope, key.created_by) ? [] : [key.created_by]),
  ]),
];

/** The key, or for a session that was made from one, all keys of its line: the session does not name its own. */
const keysBehind = ({ keys }: People, scope: string, { user, credential }: Side): KeyRow[] => {
  const { kind, id, line } = credential ?? {};
  if (kind !== 'session' || line === undefined) {
    const key = kind === 'key' && id !== undefined ? keys.get(id) : undefined;
    return key ? [key] : [];
  }
  return Array.from(keys.ofUser(scope, user ?? '')).filter((key) => key.line === line);
};

/** An admin gains no rights by the keys that it makes. */
const isAdmin = ({ users }: People, scope: string, maker: string): boolean => {
  if (maker === ADMIN_NAME) return true;
  const user = users.get(scope, maker);
  return user !== undefined && allows(parseTokenGrants([...user.grants, ...user.token_grants]), 'admin');
};
