import { allows, parseTokenGrants } from '../../schema/grants.ts';
import type { Credential, Principal } from '../../schema/principal.ts';
import type { Store } from '../../store/index.ts';

/**
 * The users behind a run and behind a decision, for calls that others must decide (identity.md 4, rule 3): the user
 * itself, and for an API key also its user and the user who made it.
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
  if (decider.user === undefined) return run.user === undefined ? '~admin' : undefined;
  const behind = usersBehind(people, scope, run);
  return usersBehind(people, scope, decider).find((user) => behind.includes(user));
};

const usersBehind = (people: People, scope: string, { user, credential }: Side): string[] => {
  const key = credential?.kind === 'key' && credential.id !== undefined && people.keys.get(credential.id);
  return [
    ...(user === undefined ? [] : [user]),
    ...(key ? [key.user, ...(isAdmin(people, scope, key.created_by) ? [] : [key.created_by])] : []),
  ];
};

/** An admin gains no rights by the keys that it makes. */
const isAdmin = ({ users }: People, scope: string, maker: string): boolean => {
  if (maker === '~admin') return true;
  const user = users.get(scope, maker);
  return user !== undefined && allows(parseTokenGrants([...user.grants, ...user.token_grants]), 'admin');
};
