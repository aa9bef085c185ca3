import { config } from 'zod/v4/core';
import {
  askWithToken,
  type Method,
  ownHeaders,
  refusalOf,
  refusedHere,
  unanswered,
} from '../data/request.ts';

/** The content security policy forbids compiled code and reports each attempt, so zod has to interpret schemas. */
config({ jitless: true });

/** Like `fetch`, with the current token at the time of each attempt. After a 401 it retries once with a new token. */
export const tokenFetch: typeof fetch = (input, init) => {
  const request = new Request(input, { credentials: 'same-origin', ...init });
  const refused = refusedHere(request.method, new URL(request.url).pathname);
  if (refused) return Promise.resolve(refused);
  return askWithToken(() => {
    const attempt = request.clone();
    for (const [name, value] of Object.entries(ownHeaders())) attempt.headers.set(name, value);
    return fetch(attempt);
  });
};

/** `tokenFetch` for transports of the AI SDK. Failures become errors that name the request. */
export const chatFetch: typeof fetch = async (input, init) => {
  const address = input instanceof Request ? input.url : input;
  const path = new URL(address, location.href).pathname;
  const method: Method = init?.method === 'POST' ? 'POST' : 'GET';
  const response = await tokenFetch(input, init).catch((error: unknown): never => {
    if (init?.signal?.aborted) throw error;
    throw unanswered(`${method} ${path}`);
  });
  if (!response.ok) throw await refusalOf({ method, path }, response);
  return response;
};
