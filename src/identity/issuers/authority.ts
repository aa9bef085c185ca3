import { compileGlob, type Glob } from '../../schema/glob.ts';
import {
  type Grants,
  isGrant,
  NO_GRANTS,
  parseGrants,
  parseTokenGrants,
  unite,
  withoutServiceGrants,
} from '../../schema/grants.ts';
import type { IssuerSpec, RoleMap } from '../../schema/issuer.ts';
import { valueAt } from './claim-path.ts';
import type { Claims } from './compact-token.ts';
import { invalidToken } from './refusal.ts';

/**
 * Returns the grants that the claims of a token give in a scope: those of its roles, or the default grants if its roles
 * give none, and with `scope_grants` those of its OAuth scope. `limit` is the OAuth scope as a restriction.
 */
export type AuthorityOf = (
  claims: Claims,
  scope: string,
) => { grants: Grants; narrowing: Grants | undefined };

export const createAuthority = (spec: IssuerSpec): AuthorityOf => {
  const counted = spec.service_grants ? (grants: Grants) => grants : withoutServiceGrants;
  const maps = mapsOf(spec, counted);
  const defaults = parseGrants(spec.default_grants);
  return (claims, scope) => {
    const roles = spec.claims.roles ? rolesOf(valueAt(claims, spec.claims.roles)) : [];
    const mapped = mappedBy(maps, scope, roles);
    const granted = mapped.list.length > 0 ? mapped : defaults;
    const narrowing = scopeGrants(claims);
    const grants = spec.scope_grants && narrowing ? unite(granted, counted(narrowing)) : granted;
    return { grants, narrowing };
  };
};

type ScopedMap = { matches: Glob; roles: ReadonlyMap<string, Grants> };

const mapsOf = ({ map, claims }: IssuerSpec, counted: (grants: Grants) => Grants): readonly ScopedMap[] => {
  const grantsOf = (roles: RoleMap): ReadonlyMap<string, Grants> =>
    new Map(Object.entries(roles).map(([role, texts]) => [role, counted(parseGrants(texts))]));
  // The casts hold because the schema requires one of the forms, by whether `claims.scope` is given.
  if (claims.scope === undefined) return [{ matches: () => true, roles: grantsOf(map as RoleMap) }];
  return Object.entries(map as Readonly<Record<string, RoleMap>>).map(([pattern, roles]) => ({
    matches: compileGlob(pattern),
    roles: grantsOf(roles),
  }));
};

const mappedBy = (maps: readonly ScopedMap[], scope: string, roles: readonly string[]): Grants =>
  maps
    .filter(({ matches }) => matches(scope))
    .flatMap(({ roles: known }) => roles.flatMap((role) => known.get(role) ?? []))
    .reduce(unite, NO_GRANTS);

const rolesOf = (value: unknown): readonly string[] => {
  if (value === undefined || value === null) return [];
  if (typeof value === 'string') return [value];
  if (!Array.isArray(value)) throw invalidToken('claims');
  return value.filter((role) => typeof role === 'string');
};

/** Returns the grants of the claims `scope` and `scp`; undefined if they name none. */
const scopeGrants = ({ scope, scp }: Claims): Grants | undefined => {
  const named = [...wordsOf(scope), ...wordsOf(scp)].filter((word) => isGrant(word) || PATTERN.test(word));
  return named.length === 0 ? undefined : parseTokenGrants(named);
};

/** Grants with a broken pattern give nothing, but they still limit the token. */
const PATTERN = /^(?:invoke|decide|configure):/;

const wordsOf = (value: unknown): readonly string[] => {
  if (typeof value === 'string') return value.split(' ').filter((word) => word !== '');
  return Array.isArray(value) ? value.filter((word) => typeof word === 'string') : [];
};
