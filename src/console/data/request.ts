import { withoutTrailing } from '../../schema/trailing.ts';
import { messageOf, RequestError } from './error.ts';
import { type Guard, ShapeError } from './guard.ts';
import { redactText } from './redact-text.ts';
import { acceptToken, askForToken, isSettled, operator, settleToken, token } from './session.ts';

/**
 * The only client of the service's routes. It adds the token, recovers from a 401, and checks responses; its errors
 * name the request.
 */

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export type Outgoing = {
  method?: Method;
  path: string;
  query?: Record<string, string | number | boolean | undefined>;
  /** A file is sent as it is, anything else as JSON. */
  body?: unknown;
  signal?: AbortSignal | undefined;
  /** Sent instead of the stored token. */
  bearer?: string;
  /** A refused token is an error immediately; the user is not asked for another. */
  quiet?: boolean;
  /** Sends the request even while the page is being closed. */
  keepalive?: boolean;
};

let backend = '';

/** Must be called once, before the first request. */
export const setBackend = (url: string): void => {
  backend = withoutTrailing(url, '/');
};

let onUnreachable = (): void => {};

/** @param listener called when a request gets no response */
export const watchFailures = (listener: () => void): void => {
  onUnreachable = listener;
};

/** The error of a request without a response, which also marks the service as unreachable. */
export const unanswered = (request: string): RequestError => {
  onUnreachable();
  return new RequestError(`No response from ${backend}`, request, { kind: 'network', backend });
};

export const backendUrl = (): string => backend;

/** A path such as `/v1/config/agents`, with names that may contain any character. */
export const pathOf = (parts: TemplateStringsArray, ...values: string[]): string =>
  String.raw({ raw: parts.raw }, ...values.map(encodeURIComponent));

const urlOf = ({ path, query = {} }: Outgoing): string => {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== '') search.set(name, String(value));
  }
  const text = search.toString();
  return `${backend}${path}${text === '' ? '' : `?${text}`}`;
};

export const ownHeaders = (bearer = token.get()): Record<string, string> => {
  const who = operator.get();
  return {
    ...(bearer !== '' && { authorization: `Bearer ${bearer}` }),
    ...(who !== '' && { 'x-service-actor': encodeURI(who) }),
  };
};

let refusal = (_path: string): string | undefined => undefined;

/** @param grant returns the grant that a read needs and the principal lacks */
export const setRefusal = (grant: typeof refusal): void => {
  refusal = grant;
};

/** The response of the service to a read without its grant, without a request. */
export const refusedHere = (method: string, path: string): Response | undefined => {
  const grant = method === 'GET' ? refusal(path) : undefined;
  if (grant === undefined) return undefined;
  return Response.json({ error: `this needs the grant ${grant}`, needs: [grant] }, { status: 403 });
};

const UNKNOWN_TYPE = 'application/octet-stream';

const fetchOnce = async (outgoing: Outgoing): Promise<Response> => {
  const { method = 'GET', body, signal } = outgoing;
  const isFile = body instanceof Blob;
  const refused = outgoing.bearer === undefined ? refusedHere(method, outgoing.path) : undefined;
  if (refused) return refused;
  try {
    return await fetch(urlOf(outgoing), {
      method,
      headers: {
        ...ownHeaders(outgoing.bearer),
        ...(body !== undefined && {
          'content-type': isFile ? body.type || UNKNOWN_TYPE : 'application/json',
        }),
      },
      ...(body !== undefined && { body: isFile ? body : JSON.stringify(body) }),
      signal: signal ?? null,
      // Only the own origin has a session cookie.
      credentials: 'same-origin',
      keepalive: outgoing.keepalive ?? false,
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw unanswered(nameOf(outgoing));
  }
};

const nameOf = ({ method = 'GET', path }: Pick<Outgoing, 'method' | 'path'>): string => `${method} ${path}`;

const bodyOf = async (response: Response): Promise<unknown> => {
  const said = await response.text();
  if (!response.headers.get('content-type')?.includes('json')) return said;
  try {
    return JSON.parse(said);
  } catch {
    return said;
  }
};

/** The error for a refused request, with the message of the service. */
export const refusalOf = async (
  outgoing: Pick<Outgoing, 'method' | 'path'>,
  response: Response,
): Promise<RequestError> => {
  const body = await bodyOf(response);
  const requestId = response.headers.get('x-request-id') ?? undefined;
  const { status } = response;
  return new RequestError(redactText(messageOf(body, status)), nameOf(outgoing), {
    kind: 'http',
    status,
    body,
    requestId,
  });
};

/** Sends a request. After a 401 it asks the user for another token once and retries once. */
export const askWithToken = async (ask: () => Promise<Response>): Promise<Response> => {
  const sentWith = token.get();
  const response = await ask();
  if (response.status !== 401) {
    acceptToken(sentWith);
    return response;
  }
  // Another request may have obtained a new token since this one was sent.
  const isNew = token.get() !== sentWith && token.get() !== '';
  if (!isNew && (isSettled(sentWith) || !(await askForToken('refused')))) return response;
  const sentAgainWith = token.get();
  const another = await ask();
  if (another.status === 401) settleToken(sentAgainWith);
  else acceptToken(sentAgainWith);
  return another;
};

/**
 * The response, if its status is 2xx. After a 401 the user is asked for a token once, and the request is retried once.
 * @throws RequestError
 */
export const sendRaw = async (outgoing: Outgoing): Promise<Response> => {
  const ask = (): Promise<Response> => fetchOnce(outgoing);
  const response = await (outgoing.quiet ? ask() : askWithToken(ask));
  if (!response.ok) throw await refusalOf(outgoing, response);
  return response;
};

/** The body of the response, unchecked. @throws RequestError */
export const sendUnchecked = async (outgoing: Outgoing): Promise<unknown> => bodyOf(await sendRaw(outgoing));

/** The body, checked by the guard. @throws RequestError naming the request */
export const checked = <T>(outgoing: Outgoing, guard: Guard<T>, body: unknown): T => {
  try {
    return guard(body, '');
  } catch (error) {
    if (!(error instanceof ShapeError)) throw error;
    const message = `${nameOf(outgoing)} answered something this console cannot read: ${error.message}`;
    throw new RequestError(message, nameOf(outgoing), { kind: 'shape' });
  }
};

/** @throws RequestError */
export const send = async <T>(outgoing: Outgoing, guard: Guard<T>): Promise<T> =>
  checked(outgoing, guard, await sendUnchecked(outgoing));
