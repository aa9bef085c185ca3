import { Unauthorized } from '../schema/outcome.ts';
import { createTokenCheck } from './token.ts';

/**
 * Checks the admin bearer token with the conditions, order and texts of config.md 1.1. The token is everything after
 * the first space, byte for byte.
 */
export const createAdminCheck = (configured: string | undefined) => {
  const isToken = configured === undefined ? undefined : createTokenCheck(configured);

  /**
   * @param values unmodified values of all `Authorization` headers of the request
   * @throws Unauthorized
   */
  return (values: readonly string[]): void => {
    if (!isToken) throw new Unauthorized('admin authentication is not configured');
    const [value] = values;
    if (value === undefined) throw new Unauthorized('admin authentication required');
    if (values.length > 1) throw new Unauthorized('multiple Authorization headers are not allowed');
    if (!VISIBLE_ASCII.test(value)) throw new Unauthorized('invalid Authorization header');
    const space = value.indexOf(' ');
    if (space < 0 || value.slice(0, space).toLowerCase() !== 'bearer') {
      throw new Unauthorized('Authorization header must use Bearer authentication');
    }
    if (!isToken(value.slice(space + 1))) {
      throw new Unauthorized('invalid admin bearer token');
    }
  };
};

/** A TAB passes here and is rejected by the next check. */
const VISIBLE_ASCII = /^[\t\x20-\x7e]*$/;
