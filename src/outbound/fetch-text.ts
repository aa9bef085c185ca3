import { type GuardedOptions, sendGuarded } from './guarded-request.ts';

/**
 * Sends one GET to an untrusted address, with the guarantees of `guarded-request.ts`.
 *
 * @throws Error with the reason, without headers or the response
 */
export const fetchText = async (
  url: URL,
  { headers, ...options }: Omit<GuardedOptions, 'method' | 'body'>,
): Promise<string> => {
  const { status, body } = await sendGuarded(url, {
    ...options,
    headers: { ...headers, accept: 'application/json' },
  });
  if (status < 200 || status > 299) throw new Error(`status ${status}`);
  return body.toString('utf8');
};
