import { config } from 'zod/v4/core';
import { RequestError } from '../data/error.ts';
import { askWithToken, backendUrl, type Method, ownHeaders, refusalOf } from '../data/request.ts';

/** The policy of the page lets nothing be compiled, and even the attempt is reported: schemas are walked instead. */
config({ jitless: true });

/**
 * How chats talk to the service: with the token as it is when a message is sent, and once more with another one after
 * a 401. What a transport of the AI SDK asks for, by an address, and is refused, is an error that says what was asked.
 */
export const chatFetch: typeof fetch = async (input, init) => {
  const request = new Request(input, { credentials: 'omit', ...init });
  const ask = (): Promise<Response> => {
    const attempt = request.clone();
    for (const [name, value] of Object.entries(ownHeaders())) attempt.headers.set(name, value);
    return fetch(attempt);
  };
  const path = new URL(request.url).pathname;
  // Chats only read and add.
  const method: Method = request.method === 'POST' ? 'POST' : 'GET';
  let response: Response;
  try {
    response = await askWithToken(ask);
  } catch (error) {
    if (request.signal.aborted) throw error;
    const backend = backendUrl();
    throw new RequestError(`No answer from ${backend}`, `${method} ${path}`, { kind: 'network', backend });
  }
  if (!response.ok && !(input instanceof Request)) throw await refusalOf({ method, path }, response);
  return response;
};
