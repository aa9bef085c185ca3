import { isObject, type JsonObject } from '../../schema/endpoint.ts';

/** Removes an `auth` without a token: a restored entry without its secret has no authentication. */
export const withoutEmptyAuth = ({ auth, ...rest }: JsonObject): JsonObject => {
  if (auth === undefined || (isObject(auth) && auth.token === undefined)) return rest;
  return { ...rest, auth };
};
