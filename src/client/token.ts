import { keyProblem } from '../schema/sendable.ts';

/**
 * The bearer token of a client: the option `token`.
 *
 * Guarantees: a function is called before the first request, and again after the service has rejected its token with
 * 401. Concurrent requests share one call. A failed call fails the requests that wait for it; the next request calls the
 * function again. No error of this file contains a token.
 */

/**
 * The bearer token of a client: an API key, the token of a session or of an identity provider, or the admin token; or a
 * function that returns it. The client keeps the token that the function returns, and calls the function again after the
 * service has rejected that token with 401.
 *
 * @example
 * ```ts
 * const token: TokenSource = async () => (await fetch('https://app.example/agents-token')).text();
 * const client = createClient({ url: 'https://agents.example.com', token });
 * ```
 */
export type TokenSource = string | (() => string | Promise<string>);

export type Token = {
  /** Returns the kept token, or that of the function. @throws errors of the function, TypeError for an invalid token */
  current(): Promise<string>;
  /**
   * Returns the token that replaces a rejected one; undefined if there is no other.
   *
   * @throws as `current`
   */
  renew(rejected: string): Promise<string | undefined>;
};

/** @throws TypeError for an invalid text */
export const createToken = (source: TokenSource): Token =>
  typeof source === 'string' ? constantToken(checked(source)) : renewedToken(source);

const constantToken = (text: string): Token => ({
  current: async () => text,
  renew: async () => undefined,
});

const renewedToken = (source: () => string | Promise<string>): Token => {
  let kept: Promise<string> | undefined;

  const request = async (): Promise<string> => checked(await source());

  const current = (): Promise<string> => {
    if (kept) return kept;
    const requested = request();
    kept = requested;
    requested.catch(() => {
      if (kept === requested) kept = undefined;
    });
    return requested;
  };

  return {
    current,
    async renew(rejected) {
      const before = kept;
      // Another request may have replaced the token during the wait.
      if ((await before) === rejected && kept === before) kept = undefined;
      const token = await current();
      return token === rejected ? undefined : token;
    },
  };
};

/** HTTP libraries quote invalid values of headers in their errors, which would disclose the token. */
const checked = (text: unknown): string => {
  if (typeof text !== 'string' || text === '') throw new TypeError('token must be a text that is not empty');
  const problem = keyProblem(text);
  if (problem !== undefined) throw new TypeError(`token ${problem}`);
  return text;
};
