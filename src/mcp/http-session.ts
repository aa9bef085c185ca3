import type { IncomingMessage } from 'node:http';
import type { JSONRPCMessage, JSONRPCRequest, Transport } from '@modelcontextprotocol/client';
import { BOUNDS } from './bounds.ts';
import type { Cursor } from './event-stream.ts';
import { McpFailure } from './failure.ts';
import { type Flood, isWorthReading } from './flood.ts';
import { ask, discard, type HttpPeer, refusalOf } from './http-request.ts';
import { meansLostSession } from './lost-session.ts';
import { idOfRequest, type RequestId } from './message.ts';

/** One session over HTTP, as everything that works for it sees it. */

export type HttpTransport = Transport & {
  isExpired(): boolean;
  /** The request of ours on whose stream the server asked this. */
  askedFor(id: RequestId): JSONRPCRequest | undefined;
};

export type HttpOptions = {
  url: URL;
  /** Go with every request. */
  headers: Readonly<Record<string, string>>;
  timeoutMs: number;
  /** The server has dropped the session. */
  expired(): void;
  tell(text: string): void;
};

/** One transport, as its functions see it. */
export type HttpState = {
  readonly peer: HttpPeer;
  readonly options: HttpOptions;
  readonly transport: HttpTransport;
  /** Ends everything that is open. */
  readonly over: AbortController;
  /** Requests whose answers are under way. */
  readonly exchanges: Map<RequestId, AbortController>;
  /** What the server asked and nobody has answered yet. */
  readonly questions: Set<RequestId>;
  /** The request on whose stream it did, where it was one. */
  readonly asked: Map<RequestId, JSONRPCRequest>;
  /** What is sent without an answer, and not sent yet. */
  readonly leaving: Set<Promise<unknown>>;
  session: string | undefined;
  version: string | undefined;
  readonly flood: Flood;
  listening: boolean;
  expired: boolean;
  closed: Promise<void> | undefined;
};

/** To the client. */
export const hand = (state: HttpState, message: JSONRPCMessage): void => {
  const question = idOfRequest(message);
  if (question !== undefined && state.questions.size >= BOUNDS.questions) {
    state.asked.delete(question);
    state.options.tell('the server asks more than can be answered at once');
    return;
  }
  if (question !== undefined) state.questions.add(question);
  if (isWorthReading(state.flood, message)) state.transport.onmessage?.(message);
};

export const headersOf = ({ options, session, version }: HttpState): Record<string, string> => ({
  ...options.headers,
  ...(session !== undefined && { 'mcp-session-id': session }),
  ...(version !== undefined && { 'mcp-protocol-version': version }),
});

/** Only while it is the session of this transport, which it is until the server has dropped it. */
export const expire = (state: HttpState): void => {
  if (state.session === undefined || state.expired) return;
  state.expired = true;
  state.options.expired();
};

/** Why a response is no success: `lost` where it means that the session is gone, which it then is. */
export const refuse = async (
  state: HttpState,
  response: IncomingMessage,
  { signal, lost }: { signal: AbortSignal; lost: McpFailure },
): Promise<McpFailure> => {
  const { statusCode = 0 } = response;
  if (state.session === undefined || !meansLostSession(statusCode, '')) {
    const refusal = await refusalOf(response, { signal, idleMs: state.peer.timeoutMs });
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
  ask(state.peer, {
    method: 'GET',
    headers: {
      ...headersOf(state),
      accept: 'text/event-stream',
      'accept-encoding': 'identity',
      ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
    },
    signal,
    timeoutMs,
  });

/** @throws McpFailure when the signal fires */
export const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(new McpFailure('cancelled', 'nobody waits any more'));
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop);
      resolve();
    }, ms);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
