import { withoutTrailing } from '../../schema/trailing.ts';
import { messageOf, RequestError } from './error.ts';
import { type Guard, ShapeError } from './guard.ts';
import { redactText } from './redact-text.ts';
import { acceptToken, askForToken, isSettled, operator, settleToken, token } from './session.ts';

/**
 * The one client of the service's routes: the token, the way back from a 401, errors that say what was asked, and
 * answers that are what the screen will read.
 */

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export type Outgoing = {
  method?: Method;
  path: string;
  query?: Record<string, string | number | boolean | undefined>;
  body?: unknown;
  signal?: AbortSignal | undefined;
  /** A refused token is an error at once: nobody is asked for another. */
  quiet?: boolean;
  /** It is sent although the page is being left. */
  keepalive?: boolean;
};

let backend = '';

/** Once, before the first request. */
export const setBackend = (url: string): void => {
  backend = withoutTrailing(url, '/');
};

export const backendUrl = (): string => backend;

/** `/v1/config/agents` and a name that may hold anything. */
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

/** Headers that every request of this console has, streams too. */
export const ownHeaders = (): Record<string, string> => {
  const [bearer, who] = [token.get(), operator.get()];
  return {
    ...(bearer !== '' && { authorization: `Bearer ${bearer}` }),
    ...(who !== '' && { 'x-service-actor': encodeURI(who) }),
  };
};

const fetchOnce = async (outgoing: Outgoing): Promise<Response> => {
  const { method = 'GET', body, signal } = outgoing;
  try {
    return await fetch(urlOf(outgoing), {
      method,
      headers: { ...ownHeaders(), ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: signal ?? null,
      credentials: 'omit',
      keepalive: outgoing.keepalive ?? false,
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new RequestError(`No answer from ${backend}`, nameOf(outgoing), { kind: 'network', backend });
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

/** What the service says of why it did not. */
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

/** Asks; after a 401 the user is asked for another token once, and the same is asked once more. */
export const askWithToken = async (ask: () => Promise<Response>): Promise<Response> => {
  const sentWith = token.get();
  const response = await ask();
  if (response.status !== 401) {
    acceptToken(sentWith);
    return response;
  }
  // Meanwhile somebody else may have been asked and have answered.
  const isNew = token.get() !== sentWith && token.get() !== '';
  if (!isNew && (isSettled(sentWith) || !(await askForToken('refused')))) return response;
  const sentAgainWith = token.get();
  const another = await ask();
  if (another.status === 401) settleToken(sentAgainWith);
  else acceptToken(sentAgainWith);
  return another;
};

/**
 * The answer as it comes, of 2xx. After a 401 the user is asked once, and the request is sent once more.
 * @throws RequestError
 */
export const sendRaw = async (outgoing: Outgoing): Promise<Response> => {
  const ask = (): Promise<Response> => fetchOnce(outgoing);
  const response = await (outgoing.quiet ? ask() : askWithToken(ask));
  if (!response.ok) throw await refusalOf(outgoing, response);
  return response;
};

/** The body of the answer, whatever it is. @throws RequestError */
export const sendUnchecked = async (outgoing: Outgoing): Promise<unknown> => bodyOf(await sendRaw(outgoing));

/** A body as the guard has it. @throws RequestError that names the request */
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
