import { isObject } from '../../schema/endpoint.ts';
import type { ClaimPath } from '../../schema/issuer.ts';
import type { Claims } from './compact-token.ts';

/** Returns a nested claim; undefined if a name on the path is missing. */
export const valueAt = (claims: Claims, path: ClaimPath): unknown => {
  let value: unknown = claims;
  for (const name of path) value = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  return value;
};
