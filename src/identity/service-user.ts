import type { Clock } from '../schema/clock.ts';
import { parseGrants } from '../schema/grants.ts';
import { Forbidden, Invalid, Unauthorized } from '../schema/outcome.ts';
import { demand, may, type Need, nameOf, type Principal, presentRights } from '../schema/principal.ts';
import type { Store, UserRow } from '../store/index.ts';
import type { Change, Changes } from './changes.ts';
import type { JudgedPrincipal } from './credentials/judge.ts';
import { demandRoomForUser } from './users/bind.ts';
import { grantsOf } from './users/rights.ts';
import { checkedUserId } from './users/texts.ts';
import { audited, demandFree, newUser, type OwnedThreads, resourceOf } from './users/users.ts';

/**
 * Acting for end users (identity.md 3.5): a back end with one key names its end user in a header.
 *
 * Guarantees: the header is never ignored. The request acts with what the end user, the caller and the set `member` all
 * allow. A user that is made here can be bound by no token.
 * Cost: nothing but a look at the header without one; two reads for a known user.
 */
export type ActFor = (
  judged: JudgedPrincipal,
  /** The value of the header `userHeaderOf(judged)`. */
  given: string | undefined,
  /** The end user that a front end names in its own header. Ignored without `act`, since front ends always send it. */
  ofFrontEnd?: string | undefined,
) => Principal | Promise<Principal>;

export type ActForDeps = {
  store: Pick<Store, 'users'>;
  clock: Clock;
  changes: Changes;
  threads: OwnedThreads;
  maxUsers: number;
};

export const USER_HEADER = 'x-service-user';

/** Returns the header in which a principal names its end user. */
export const userHeaderOf = ({ userHeader = USER_HEADER }: JudgedPrincipal): string => userHeader;

const ACT: Need = ['act'];

const MEMBER = parseGrants(['member']);

/** Limits a key that names its end users in a header, in a request without that header: it reaches no threads. */
const WITHOUT_THREADS = parseGrants(['keys', 'act', 'operate', 'manage', 'evaluate', 'configure']);

/** @throws Forbidden, Invalid, Unauthorized, RateLimited; rejects with the same if a user has to be written */
export const createActFor =
  (deps: ActForDeps): ActFor =>
  (judged, named, ofFrontEnd) => {
    const { userHeader } = judged;
    const given = named ?? (ofFrontEnd !== undefined && may(judged, ACT) ? ofFrontEnd : undefined);
    if (given === undefined) {
      if (userHeader === undefined) return judged;
      return withoutEndUser(judged);
    }
    demand(judged, ACT);
    const id = checkedUserId(userHeaderOf(judged), decoded(given, userHeaderOf(judged)));
    const user = deps.store.users.get(judged.scope, id);
    if (user) return actingFor(deps, judged, user);
    const caller = {
      actor: nameOf(judged),
      request_id: null,
      user: nameOf(judged),
      scope: judged.scope,
      credential: judged.credential,
    };
    return deps.changes
      .write({ principal: judged, caller }, (change) => endUser(deps, judged, id, change))
      .then((made) => actingFor(deps, judged, made));
  };

const withoutEndUser = (judged: Principal): Principal => ({
  ...judged,
  authority: [...judged.authority, WITHOUT_THREADS],
  ...(judged.basis && {
    basis: { ...judged.basis, again: () => withoutEndUser(presentRights(judged)) },
  }),
});

const actingFor = (deps: ActForDeps, judged: Principal, user: UserRow): Principal => {
  if (user.disabled) throw new Unauthorized(`user '${user.id}' is disabled`, { reason: 'disabled' });
  if (user.kind === 'service') {
    throw new Forbidden(`'${user.id}' is a service: act is for persons`, { code: 'forbidden' });
  }
  return {
    scope: judged.scope,
    user: user.id,
    authority: [grantsOf(user), ...judged.authority, MEMBER],
    // The record of a key names its own user.
    credential: judged.credential.kind === 'key' ? judged.credential : { ...judged.credential, act: true },
    basis: {
      // A change of the user of the credential matters too.
      users: [...(judged.basis?.users ?? []), ...(judged.user === undefined ? [] : [judged.user])],
      revision: judged.basis?.revision ?? deps.changes.revision,
      expires_at: judged.basis?.expires_at ?? Number.POSITIVE_INFINITY,
      again: () => actingAgain(deps, judged, user.id),
    },
  };
};

/** @throws Unauthorized, Forbidden */
const actingAgain = (deps: ActForDeps, judged: Principal, id: string): Principal => {
  const present = presentRights(judged);
  demand(present, ['act']);
  const user = deps.store.users.get(present.scope, id);
  if (!user) throw new Unauthorized(`user '${id}' does not exist`);
  return actingFor(deps, present, user);
};

const endUser = (
  { store: { users }, clock, threads, maxUsers }: ActForDeps,
  { scope }: Principal,
  id: string,
  change: Change,
): UserRow => {
  const existing = users.get(scope, id);
  if (existing) return existing;
  const user: UserRow = { ...newUser({ scope, id, kind: 'person', now: clock.now() }), grants: ['member'] };
  try {
    demandFree({ users, threads }, user);
  } catch {
    throw new Unauthorized('invalid credential: identity');
  }
  demandRoomForUser(users, scope, maxUsers);
  users.put(change.batch, user, undefined);
  change.audit({ action: 'create', resource: resourceOf(user), after: audited(user) });
  return user;
};

/** @throws Invalid */
const decoded = (text: string, header: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Invalid(`${header} must be an id, percent-encoded where it is not ASCII`);
  }
};
