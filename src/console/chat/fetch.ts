import { config } from 'zod/v4/core';
import { RequestError } from '../data/error.ts';
import { askWithToken, backendUrl, type Method, ownHeaders, refusalOf } from '../data/request.ts';

/** The policy of the page lets nothing be compiled, and even the attempt is reported: schemas are walked instead. */
config({ jitless: true });

/** As the platform's own, with the token as it is when something is sent, and once more with another after a 401. */
export const tokenFetch: typeof fetch = (input, init) => {
  const request = new Request(input, { credentials: 'omit', ...init });
  return askWithToken(() => {
    const attempt = request.clone();
    for (const [name, value] of Object.entries(ownHeaders())) attempt.headers.set(name, value);
    return fetch(attempt);
  });
};

/** For a transport of the AI SDK: the same, and what is refused is an error that says what was asked. */
export const chatFetch: typeof fetch = async (input, init) => {
  const address = input instanceof Request ? input.url : input;
  const path = new URL(address, location.href).pathname;
  const method: Method = init?.method === 'POST' ? 'POST' : 'GET';
  const response = await tokenFetch(input, init).catch((error: unknown): never => {
    if (init?.signal?.aborted) throw error;
    const backend = backendUrl();
    throw new RequestError(`No answer from ${backend}`, `${method} ${path}`, { kind: 'network', backend });
  });
  if (!response.ok) throw await refusalOf({ method, path }, response);
  return response;
};
