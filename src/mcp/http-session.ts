import type { IncomingMessage } from 'node:http';
import type { JSONRPCMessage, JSONRPCRequest, Transport } from '@modelcontextprotocol/client';
import { type Authorize, askAuthorized } from './authorized.ts';
import { BOUNDS } from './bounds.ts';
import type { Cursor } from './event-stream.ts';
import { McpFailure } from './failure.ts';
import { discard, type HttpPeer, readRefusal } from './http-request.ts';
import { meansLostSession } from './lost-session.ts';
import { idOfRequest, type RequestId } from './message.ts';
import { accepts, type NotificationLimiter } from './notification-limiter.ts';

/** The interface of one HTTP session for its modules. */

export type HttpTransport = Transport & {
  isExpired(): boolean;
  /** Returns the request of this client on whose stream the server sent its request. */
  originOf(id: RequestId): JSONRPCRequest | undefined;
};

export type HttpOptions = {
  url: URL;
  /** Sent with every request. */
  headers: Readonly<Record<string, string>>;
  timeoutMs: number;
  /** Returns the token of a request; absent for a server without `auth`. */
  authorize?: Authorize | undefined;
  /** Called when the server has dropped the session. */
  expired(): void;
  report(text: string): void;
};

/** The state of one transport. */
export type HttpState = {
  readonly peer: HttpPeer;
  readonly options: HttpOptions;
  readonly transport: HttpTransport;
  /** Aborts everything that is open. */
  readonly over: AbortController;
  /** Requests with pending responses. */
  readonly exchanges: Map<RequestId, AbortController>;
  /** Requests of the server without a response. */
  readonly questions: Set<RequestId>;
  /** The request of this client on whose stream a request of the server arrived. */
  readonly originRequests: Map<RequestId, JSONRPCRequest>;
  /** Notifications and responses that are being sent. */
  readonly leaving: Set<Promise<unknown>>;
  session: string | undefined;
  version: string | undefined;
  readonly limiter: NotificationLimiter;
  listening: boolean;
  expired: boolean;
  closed: Promise<void> | undefined;
};

/** Passes a message to the client. */
export const hand = (state: HttpState, message: JSONRPCMessage): void => {
  const question = idOfRequest(message);
  if (question !== undefined && state.questions.size >= BOUNDS.questions) {
    state.originRequests.delete(question);
    state.options.report('the server asks more than can be answered at once');
    return;
  }
  if (question !== undefined) state.questions.add(question);
  if (accepts(state.limiter, message)) state.transport.onmessage?.(message);
};

export const headersOf = ({ options, session, version }: HttpState): Record<string, string> => ({
  ...options.headers,
  ...(session !== undefined && { 'mcp-session-id': session }),
  ...(version !== undefined && { 'mcp-protocol-version': version }),
});

/** Marks the session as dropped, only once per transport. */
export const expire = (state: HttpState): void => {
  if (state.session === undefined || state.expired) return;
  state.expired = true;
  state.options.expired();
};

/** Returns the failure of a response: `lost` if it means that the session was dropped, which is then recorded. */
export const refuse = async (
  state: HttpState,
  response: IncomingMessage,
  { signal, lost }: { signal: AbortSignal; lost: McpFailure },
): Promise<McpFailure> => {
  const { statusCode = 0 } = response;
  if (state.session === undefined || !meansLostSession(statusCode, '')) {
    const refusal = await readRefusal(response, { signal, idleMs: state.peer.timeoutMs });
    if (state.session === undefined || !meansLostSession(statusCode, refusal.message)) return refusal;
  } else discard(response, state.peer.timeoutMs);
  expire(state);
  return lost;
};

export const openStream = (
  state: HttpState,
  { lastEventId }: Cursor,
  { signal, timeoutMs }: { signal: AbortSignal; timeoutMs: number },
): Promise<IncomingMessage> =>
  askAuthorized(
    state.peer,
    {
      method: 'GET',
      headers: {
        ...headersOf(state),
        accept: 'text/event-stream',
        'accept-encoding': 'identity',
        ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
      },
      signal,
      timeoutMs,
    },
    state.options.authorize,
  );

/** @throws McpFailure when the signal fires */
export const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(new McpFailure('cancelled', 'request cancelled'));
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop);
      resolve();
    }, ms);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
