import {
  type Authority,
  firstBeyond,
  firstServiceGrant,
  type Grants,
  NO_GRANTS,
  parseGrants,
  parseTokenGrants,
  unite,
} from '../../schema/grants.ts';
import { Forbidden } from '../../schema/outcome.ts';
import { demand, forbidden, may, type Principal } from '../../schema/principal.ts';
import type { UserRow } from '../../store/index.ts';
import { checkedScope } from './texts.ts';

/** The rights to give grants and to manage users (identity.md 1.2, rules 1 and 2). */

/** Returns all grants of a user: those given here, and those of its newest token. */
export const grantsOf = ({ grants, token_grants }: Pick<UserRow, 'grants' | 'token_grants'>): Grants =>
  unite(parseTokenGrants(grants), token_grants.length === 0 ? NO_GRANTS : parseTokenGrants(token_grants));

/**
 * @throws Invalid for a text that is no grant
 * @throws Forbidden for a grant that the principal lacks, and for a service grant unless it has `admin`
 */
export const demandGivable = (principal: Principal, given: readonly string[]): void => {
  const grants = parseGrants(given);
  const lacking = firstBeyond(principal.authority, grants);
  if (lacking !== undefined) throw lacks(lacking, `this gives the grant ${lacking}, which the caller lacks`);
  if (firstServiceGrant(grants) !== undefined) demand(principal, ['admin']);
};

/**
 * @throws Forbidden if the user has a grant that the principal lacks: `manage` does not reach it
 */
export const demandNotAbove = (principal: Principal, user: UserRow): void => {
  const lacking = firstBeyond(principal.authority, grantsOf(user));
  if (lacking !== undefined) {
    throw lacks(lacking, `user '${user.id}' has the grant ${lacking}, which the caller lacks`);
  }
};

const lacks = (grant: string, message: string): Forbidden =>
  new Forbidden(message, { code: 'forbidden', details: { needs: [grant] } });

/** Returns the scope that a request is about. @throws Forbidden for another scope than its own without `admin` */
export const scopeFor = (principal: Principal, of_scope: string | undefined): string => {
  if (of_scope === undefined) return principal.scope;
  const scope = checkedScope('of_scope', of_scope);
  if (scope !== principal.scope && !may(principal, ['admin'])) throw forbidden(['admin']);
  return scope;
};

/** Returns the lists of an authority that limit a user further than its own grants do. */
export const limitsOf = (authority: Authority): string[][] =>
  authority.filter(({ list }) => !list.some(({ word }) => word === 'admin')).map(({ texts }) => [...texts]);
