import { Agent, type IncomingMessage } from 'node:http';
import type { JSONRPCMessage, JSONRPCRequest, TransportSendOptions } from '@modelcontextprotocol/client';
import { loadHttps } from '../schema/https.ts';
import { withTimeout } from '../schema/with-timeout.ts';
import { askAuthorized } from './authorized.ts';
import { failIfDropped } from './dropped.ts';
import { connectionClosed, McpFailure, protocolFailure } from './failure.ts';
import { readAnswer } from './http-answer.ts';
import { discard } from './http-request.ts';
import {
  type HttpOptions,
  type HttpState,
  type HttpTransport,
  hand,
  headersOf,
  pause,
  refuse,
} from './http-session.ts';
import { listen } from './listening.ts';
import {
  cancelledBy,
  idOfResponse,
  isInitialize,
  isRequest,
  type RequestId,
  readMessage,
} from './message.ts';
import { MODERN, modernHeaders, traceHeaders } from './modern.ts';
import { createNotificationLimiter } from './notification-limiter.ts';

/**
 * The Streamable HTTP transport (mcp.md B4, B5) of one session; the next session has another transport.
 *
 * Guarantees: a request is sent once. A broken stream is resumed if the server provided a position, and the request is
 * never sent again. The first refusal that means a lost session (`lost-session.ts`) ends it: `expired` is called, and
 * no request is started on it afterwards. Requests of the server on the stream of a request are distinguished from its
 * other requests.
 * The `send` of a request resolves with its response, and rejects with the reason if there is none.
 */
export const createHttpTransport = (options: HttpOptions): HttpTransport => {
  const { url, timeoutMs } = options;
  const agent = new (url.protocol === 'https:' ? loadHttps().Agent : Agent)({
    keepAlive: true,
    timeout: IDLE_SOCKET_MS,
  });
  const transport: HttpTransport = {
    start: async () => {},
    hasPerRequestStream: true,
    send: (message, options) => send(state, message, options),
    close() {
      state.closed ??= close(state).finally(() => transport.onclose?.());
      return state.closed;
    },
    setProtocolVersion(version) {
      state.version = version;
    },
    isExpired: () => state.expired,
    originOf: (id) => state.originRequests.get(id),
  };
  const state: HttpState = {
    peer: { url, agent, timeoutMs },
    options,
    transport,
    over: new AbortController(),
    exchanges: new Map(),
    questions: new Set(),
    originRequests: new Map(),
    leaving: new Set(),
    session: undefined,
    version: undefined,
    limiter: createNotificationLimiter(),
    listening: false,
    expired: false,
    closed: undefined,
  };
  return transport;
};

const IDLE_SOCKET_MS = 4000;
const LEAVE_MS = 2000;

const send = async (
  state: HttpState,
  message: JSONRPCMessage,
  options: TransportSendOptions = {},
): Promise<void> => {
  if (state.closed) throw connectionClosed();
  if (isRequest(message)) {
    await exchange(state, message, options);
    return failIfDropped();
  }
  const sent = deliver(state, message);
  state.leaving.add(sent);
  try {
    await sent;
  } finally {
    state.leaving.delete(sent);
    const cancelled = cancelledBy(message);
    if (cancelled !== undefined) state.exchanges.get(cancelled)?.abort();
  }
  if ('method' in message && message.method === 'notifications/initialized' && !state.listening) {
    state.listening = true;
    listen(state).catch((error: unknown) => state.options.report(String(error)));
  }
};

/** Sends a message without a response: a notification, or a response itself. */
const deliver = async (state: HttpState, message: JSONRPCMessage): Promise<void> => {
  const answered = idOfResponse(message);
  try {
    const response = await post(state, message, state.over.signal);
    discard(response, state.peer.timeoutMs);
  } finally {
    if (answered !== undefined) {
      state.questions.delete(answered);
      state.originRequests.delete(answered);
    }
  }
};

/** @throws McpFailure unless the status is a success */
const post = async (
  state: HttpState,
  message: JSONRPCMessage,
  signal: AbortSignal,
  headers: TransportSendOptions['headers'] = {},
): Promise<IncomingMessage> => {
  const question = {
    method: 'POST' as const,
    headers: {
      ...headers,
      ...headersOf(state),
      accept: 'application/json, text/event-stream',
      ...modernHeaders(message),
      ...traceHeaders(message),
      'content-type': 'application/json',
      'accept-encoding': 'identity',
    },
    body: JSON.stringify(message),
    signal,
  };
  const response = await askAuthorized(state.peer, question, state.options.authorize);
  const { statusCode = 0 } = response;
  if (statusCode >= 200 && statusCode < 300) return response;
  throw await refuse(state, response, {
    signal,
    lost: new McpFailure('expired', 'mcp transport error: the session has expired on the server'),
  });
};

const exchange = async (
  state: HttpState,
  request: JSONRPCRequest,
  { requestSignal, headers }: TransportSendOptions,
): Promise<void> => {
  const { id } = request;
  const own = new AbortController();
  const signal = AbortSignal.any([state.over.signal, own.signal, ...(requestSignal ? [requestSignal] : [])]);
  state.exchanges.set(id, own);
  try {
    const response = await post(state, request, signal, headers);
    if (isInitialize(request)) state.session = sessionOf(response);
    await readAnswer(state, response, { request, signal });
  } catch (error) {
    if (state.over.signal.aborted) throw connectionClosed();
    if (!(error instanceof McpFailure)) throw error;
    const refusal = errorIn(error, request);
    if (refusal) return hand(state, refusal);
    if (mayStillExecute(state, request, error)) notifyCancelled(state, id);
    throw error;
  } finally {
    state.exchanges.delete(id);
    for (const [question, asker] of state.originRequests)
      if (asker === request) state.originRequests.delete(question);
  }
};

/** In the revision without sessions, the end of the stream already cancels the request. */
const mayStillExecute = ({ version }: HttpState, request: JSONRPCRequest, { kind }: McpFailure): boolean =>
  kind === 'timeout' && version !== MODERN && !isInitialize(request);

/** The newest revision sends JSON-RPC errors with an HTTP error status; they are still responses. */
const errorIn = ({ body }: McpFailure, request: JSONRPCRequest): JSONRPCMessage | undefined => {
  if (body === undefined || !('mcp-method' in modernHeaders(request))) return undefined;
  try {
    const message = readMessage(Buffer.from(body));
    return message && 'error' in message && idOfResponse(message) === request.id ? message : undefined;
  } catch {
    return undefined;
  }
};

/** Notifies the server that the request was cancelled. */
const notifyCancelled = (state: HttpState, id: RequestId): void => {
  const params = { requestId: id, reason: 'timeout' };
  send(state, { jsonrpc: '2.0', method: 'notifications/cancelled', params }).catch(() => {});
};

const sessionOf = ({ headers }: IncomingMessage): string | undefined => {
  const id = headers['mcp-session-id'];
  if (id === undefined || id === '') return undefined;
  if (typeof id !== 'string' || !/^[\x21-\x7e]+$/.test(id))
    throw protocolFailure('the session id is not visible ASCII');
  return id;
};

/** Sends pending messages first, then ends the session; both have a short timeout. */
const close = async (state: HttpState): Promise<void> => {
  const { leaving, over, peer, session, expired } = state;
  await Promise.race([Promise.allSettled(leaving), pause(LEAVE_MS, over.signal).catch(() => {})]);
  over.abort();
  if (session !== undefined && !expired) {
    const question = {
      method: 'DELETE' as const,
      headers: headersOf(state),
      signal: new AbortController().signal,
      timeoutMs: Math.min(peer.timeoutMs, LEAVE_MS),
    };
    const sent = askAuthorized(peer, question, state.options.authorize).catch(() => undefined);
    const response = await withTimeout(sent, LEAVE_MS);
    if (response) discard(response, LEAVE_MS);
  }
  peer.agent.destroy();
};
