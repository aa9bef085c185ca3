import type { StreamMethod } from '../../../machines/remote-task-types.ts';
import type { Json, RemoteEndpoint } from '../../schema/endpoint.ts';
import { keyProblem } from '../../schema/sendable.ts';
import type { TraceContext } from '../../schema/trace-context.ts';
import { withoutTrailingSlashes } from '../../schema/trailing-slashes.ts';
import { RemoteFailure } from './failure.ts';
import { readAnswer, refusedBy } from './responses.ts';

/**
 * Sends the requests of a2a.md 12.3 to one interface.
 *
 * Guarantees: redirects are not followed, so the token is sent to the interface only. A response is read only up to the
 * limits of `responses.ts`, and none is left open.
 * Relies on the platform's `fetch` for pooled connections; it fails after 300 s without headers, which limits the wait
 * for a late response to a submission.
 */
export type Requests = {
  /** `{…}/v1/a2a/tenant` without a trailing slash. */
  base: string;
  /** @throws RemoteFailure */
  submit(body: Json, signal: AbortSignal): Promise<Json>;
  /** @throws RemoteFailure */
  read(task_id: string, signal: AbortSignal): Promise<Json>;
  /** Returns an event stream that must be read or cancelled. @throws RemoteFailure */
  subscribe(task_id: string, method: StreamMethod, signal: AbortSignal): Promise<Response>;
  /** @throws RemoteFailure */
  cancel(task_id: string, signal: AbortSignal): Promise<void>;
};

const JSON_TYPES = 'application/a2a+json, application/json';
const EVENT_STREAM = 'text/event-stream';

/** The used part of the platform's `fetch`. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export const createRequests = (endpoint: RemoteEndpoint, fetch: Fetch, trace?: TraceContext): Requests => {
  const base = interfaceBase(endpoint);
  const common = {
    'A2A-Version': '1.0',
    ...trace,
    ...(endpoint.auth && { Authorization: `Bearer ${endpoint.auth.token}` }),
  };

  // The endpoint may have been stored before such tokens were rejected; the error of the platform would contain the
  // token.
  const problem = endpoint.auth && keyProblem(endpoint.auth.token);

  const send = async (path: string, init: RequestInit & { headers?: Record<string, string> }) => {
    const headers = { ...common, Accept: JSON_TYPES, ...init.headers };
    if (problem !== undefined) throw new RemoteFailure('unreachable', `the token of the endpoint ${problem}`);
    let response: Response;
    try {
      response = await fetch(`${base}${path}`, { ...init, headers, redirect: 'manual' });
    } catch (cause) {
      throw new RemoteFailure('unreachable', whyNot(cause), { cause });
    }
    if (!response.ok) throw await refusedBy(response);
    return response;
  };

  return {
    base,
    async submit(body, signal) {
      const headers = { 'Content-Type': 'application/json' };
      const init = { method: 'POST', headers, body: JSON.stringify(body), signal };
      return readAnswer(await send('/message:send', init));
    },
    read: async (id, signal) => readAnswer(await send(taskPath(id), { signal })),
    subscribe: (id, method, signal) =>
      send(`${taskPath(id)}:subscribe`, { method, headers: { Accept: EVENT_STREAM }, signal }),
    async cancel(id, signal) {
      const response = await send(`${taskPath(id)}:cancel`, { method: 'POST', signal });
      await response.body?.cancel();
    },
  };
};

const taskPath = (id: string): string => `/tasks/${encodeURIComponent(id)}`;

/** Omits credentials, which `fetch` rejects anyway. */
const interfaceBase = ({ base_url, target }: RemoteEndpoint): string => {
  const url = new URL(base_url);
  const path = withoutTrailingSlashes(url.pathname);
  const base = `${url.origin}${path}`;
  const segment = target?.trim() ? encodeURIComponent(target.trim()) : undefined;
  const last = path.split('/').at(-1);
  return segment === undefined || last === segment || last === target?.trim() ? base : `${base}/${segment}`;
};

/** `fetch` reports the reason in the cause of its error; its message may contain the address. */
const whyNot = (error: unknown): string => {
  if (error instanceof Error && error.name === 'TimeoutError') return 'no answer in time';
  const cause = error instanceof Error ? error.cause : undefined;
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  return typeof code === 'string' ? `no connection (${code})` : 'no connection';
};
