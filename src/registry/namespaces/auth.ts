import { isObject, type JsonObject } from '../../schema/endpoint.ts';

/** Without an `auth` that has lost its token: what is restored without a secret is an entry without one. */
export const withoutEmptyAuth = ({ auth, ...rest }: JsonObject): JsonObject => {
  if (auth === undefined || (isObject(auth) && auth.token === undefined)) return rest;
  return { ...rest, auth };
};
