import { randomUUID } from 'node:crypto';
import type { JSONRPCMessage, Server, Transport, TransportSendOptions } from '@modelcontextprotocol/server';
import { type ActorRefFrom, createActor } from 'xstate';
import { mcpSessionMachine } from '../../../machines/mcp-session.ts';
import { createEventStream, type EventStream } from '../../http/sse.ts';
import { ownPartition } from '../../identity/access/own.ts';
import { isObject } from '../../schema/endpoint.ts';
import { Unavailable } from '../../schema/outcome.ts';
import type { Principal } from '../../schema/principal.ts';
import {
  errorObject,
  INTERNAL_ERROR,
  INVALID_PARAMS,
  invalidRequest,
  METHOD_NOT_FOUND,
  type RpcId,
} from './errors.ts';
import type { RpcMessage, RpcRequest } from './messages.ts';
import { asInitialize, paramsProblem, STREAMED, withoutOddCursor } from './params.ts';
import type { McpProvider } from './provider.ts';
import { loadSdk } from './sdk.ts';
import { SESSION_VERSIONS } from './versions.ts';

/**
 * One session: a server of the SDK, and a transport that routes each of its messages to the corresponding response
 * (mcp.md A10).
 *
 * Guarantees: a response belongs to the request of this session with the same id and type of id. Messages of one
 * request keep their order, and messages without a recipient are dropped. A disconnected client does not cancel its
 * requests.
 * Relies on the SDK to fire the signal of a request that is cancelled, or whose session ends.
 */
export type Session = {
  /** The only credential of the client, so it is neither listed nor logged. */
  readonly id: string;
  readonly scope: string;
  readonly actor: ActorRefFrom<typeof mcpSessionMachine>;
  readonly server: Server;
  readonly transport: Transport;
  readonly open: Map<RpcId, Exchange>;
  /** Receives all messages except responses if requests have no streams. */
  readonly pipe: Pipe | undefined;
  readonly readingOf: McpProvider['readingOf'];
  /** Whether the SDK rejected the last message. */
  refused: boolean;
};

export type Pipe = (message: object) => void;

/** A request without a response yet. */
type Exchange = {
  readonly method: string;
  /** Undefined on pipes, whose session has one principal. */
  readonly principal: Principal | undefined;
  /** Undefined if the response is one JSON object. */
  readonly stream: EventStream | undefined;
  /** Receives the response, or undefined if there will be none. */
  readonly settle: (answer: object | undefined) => void;
};

export type SessionOptions = {
  provider: McpProvider;
  principal: Principal;
  /** Id of the actor, which operators see. */
  actorId: string;
  idleMs: number;
  pipe?: Pipe;
  report(error: Error): void;
};

/** Maximum number of open requests per session. */
const MOST_OPEN = 1000;

export const STREAM_HEADERS = { 'x-accel-buffering': 'no' };

/** The session is not accessible until its first request, `initialize`, has a response. */
export const createSession = async (options: SessionOptions): Promise<Session> => {
  const { provider, principal, actorId, idleMs, pipe, report } = options;
  const sdk = await loadSdk();
  const { info, capabilities } = provider;
  const server = new sdk.Server(info, { capabilities, supportedProtocolVersions: SESSION_VERSIONS });
  server.onerror = (error) => {
    session.refused = true;
    report(error);
  };
  const actor = createActor(mcpSessionMachine, { id: actorId, input: { idleMs, maxOpen: MOST_OPEN } });
  const open: Session['open'] = new Map();
  const transport: Transport = {
    async start() {},
    async close() {
      transport.onclose?.();
    },
    send: async (message, sending) => bring(session, message, sending),
  };
  const scope = ownPartition(principal);
  const session: Session = {
    id: randomUUID(),
    scope,
    actor,
    server,
    transport,
    open,
    pipe,
    readingOf: provider.readingOf,
    refused: false,
  };
  provider.bind(server, ({ mcpReq }) => open.get(mcpReq.id)?.principal ?? principal, sdk);
  await server.connect(transport);
  return session;
};

/** @returns the response to `initialize`; any parameters are accepted */
export const initialize = async (session: Session, request: RpcRequest): Promise<object | undefined> => {
  const { protocolVersion, ...about } = isObject(request.params) ? request.params : {};
  const send = (more: Record<string, unknown>) =>
    exchange(session, { ...request, params: asInitialize(protocolVersion, more) }).answered;
  const answer = await send(about);
  // If the information about the client is invalid, the request is repeated without it.
  return versionIn(answer) === undefined ? send({}) : answer;
};

/** Returns the agreed version, or undefined if the response is an error. */
export const versionIn = (answer: object | undefined): string | undefined => {
  const { result } = (answer ?? {}) as { result?: { protocolVersion?: string } };
  return result?.protocolVersion;
};

/**
 * A pending request. The response is also written to the stream, if there is one; `answered` is undefined if there is
 * none.
 */
export type PendingResponse = { stream: EventStream | undefined; answered: Promise<object | undefined> };

/** Handles a request in an open session. @throws McpError, Unavailable */
export const ask = (session: Session, request: RpcRequest, principal?: Principal): PendingResponse => {
  const { actor, open } = session;
  if (open.has(request.id))
    throw invalidRequest(`request id is in use: ${JSON.stringify(request.id)}`, request.id);
  if (!actor.getSnapshot().can({ type: 'BEGIN' }))
    throw new Unavailable('too many requests in one MCP session');
  actor.send({ type: 'BEGIN' });
  return exchange(session, request, principal);
};

/** Handles a notification or a response of the client. */
export const deliver = (session: Session, { raw, ...message }: RpcMessage): void => {
  session.actor.send({ type: 'HEAR' });
  receive(session, raw);
  if (message.kind !== 'notification' || message.method !== 'notifications/cancelled') return;
  // The SDK sends no response to a cancelled request.
  const { requestId } = isObject(message.params) ? message.params : {};
  if (typeof requestId === 'string' || typeof requestId === 'number') settle(session, requestId, undefined);
};

export const toolsChanged = (session: Session): void => {
  const change = { jsonrpc: '2.0', method: 'notifications/tools/list_changed' };
  const [stream] = streamsOf(session);
  if (session.pipe) session.pipe(change);
  else if (stream) stream.write(framed(change));
};

/** Cancels open requests; their streams end without a response. */
export const closeSession = (session: Session): void => {
  session.server.close().catch(() => {});
  for (const id of session.open.keys()) settle(session, id, undefined);
};

const exchange = (session: Session, request: RpcRequest, principal?: Principal): PendingResponse => {
  const { id, method, params } = request;
  const isStream = method === STREAMED && !session.pipe;
  const stream = isStream
    ? createEventStream({ headers: STREAM_HEADERS, reading: session.readingOf(request) })
    : undefined;
  const answered = new Promise<object | undefined>((resolve) => {
    session.open.set(id, { method, stream, principal, settle: resolve });
  });
  const problem = paramsProblem(method, params);
  if (problem === undefined) hand(session, { ...request, params: withoutOddCursor(params) });
  else settle(session, id, errorObject(INVALID_PARAMS, problem, id));
  return { stream, answered };
};

/** Passes a request to the SDK, which reports only a generic error for malformed messages. */
const hand = (session: Session, { id, method, params }: RpcRequest): void => {
  session.refused = false;
  receive(session, { jsonrpc: '2.0', id, method, ...(params !== undefined && { params }) });
  if (session.refused)
    settle(session, id, errorObject(INVALID_PARAMS, `the params of ${method} are not legal`, id));
};

const receive = ({ transport }: Session, message: object): void => {
  // The message was validated as far as the SDK relies on it.
  transport.onmessage?.(message as JSONRPCMessage);
};

const bring = (session: Session, message: JSONRPCMessage, options?: TransportSendOptions): void => {
  if (!('method' in message)) {
    if (message.id !== undefined) settle(session, message.id, named(session, message.id, message));
    return;
  }
  if (session.pipe) {
    session.pipe(message);
    return;
  }
  const related = options?.relatedRequestId;
  const stream = related === undefined ? streamsOf(session).next().value : session.open.get(related)?.stream;
  if (stream && !stream.closed) stream.write(framed(message));
  else if ('id' in message) throw new Error('the client has no open stream for requests');
};

/** Adds the unknown method that the SDK omits, and hides the details of internal errors. */
const named = ({ open }: Session, id: RpcId, message: JSONRPCMessage): object => {
  if (!('error' in message)) return message;
  const { code } = message.error;
  if (code === METHOD_NOT_FOUND)
    return errorObject(code, `Method not found: ${open.get(id)?.method ?? ''}`, id);
  return code === INTERNAL_ERROR ? errorObject(code, 'internal error', id) : message;
};

const settle = (session: Session, id: RpcId, answer: object | undefined): void => {
  const exchange = session.open.get(id);
  if (!exchange) return;
  session.open.delete(id);
  if (session.actor.getSnapshot().status === 'active') session.actor.send({ type: 'SETTLE' });
  if (answer) exchange.stream?.write(framed(answer));
  exchange.stream?.end();
  exchange.settle(answer);
};

const streamsOf = function* ({ open }: Session): Generator<EventStream, undefined> {
  for (const { stream } of open.values()) if (stream && !stream.closed) yield stream;
  return undefined;
};

/** Frames have no ids, because streams are not resumable and a client would try to resume them. */
const framed = (message: object): string => `data: ${JSON.stringify(message)}\n\n`;
