import type { Client, ClientOptions, Progress, Transport } from '@modelcontextprotocol/client';
import type { z } from 'zod';
import type { JsonObject } from '../schema/endpoint.ts';
import {
  connectionClosed,
  McpFailure,
  protocolFailure,
  timedOut,
  transportFailure,
  wordsOf,
} from './failure.ts';
import { createHttpTransport } from './http.ts';
import type { HttpTransport } from './http-session.ts';
import { MODERN, mayBeModern } from './modern.ts';
import type { ServerQuestion } from './questions.ts';
import { toRefusal } from './refusal.ts';
import { createStdioTransport } from './stdio.ts';
import { type McpTarget, unsendableIn } from './target.ts';

/**
 * One initialized session with a server: the official client over one of the transports. The client does the
 * handshake, matches answers to requests, and answers pings.
 *
 * The library is loaded with the first session: a service without servers does not pay for it.
 */
export type Session = {
  readonly client: Client;
  readonly transport: Transport;
  readonly http: HttpTransport | undefined;
  readonly toFailure: (
    error: unknown,
    asked: { timeoutMs: number; signal?: AbortSignal | undefined },
  ) => McpFailure;
};

export type SessionDeps = {
  target: McpTarget;
  /** Of this service. */
  version: string;
  /** For the log; may hold what the server has said. */
  tell(text: string): void;
  /** The server says that its tools have changed. */
  changed(): void;
  /** The child has ended. */
  lost(reason: string): void;
  /** The server has dropped the session; another one may be opened. */
  expired(): void;
  /** What the server asks. @throws Refusal */
  answer(question: ServerQuestion): Promise<JsonObject>;
};

/** The newest is offered. */
const VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];

/** The transport over HTTP keeps its own time. */
const NEVER_MS = 2 ** 31 - 1;

type Sdk = typeof import('@modelcontextprotocol/client');

/** @throws McpFailure */
export const openSession = async (deps: SessionDeps, signal: AbortSignal): Promise<Session> => {
  const unsendable = unsendableIn(deps.target);
  if (unsendable !== undefined) throw transportFailure(unsendable);
  const sdk = await import('@modelcontextprotocol/client');
  try {
    return await handshake(sdk, deps, { supportedProtocolVersions: VERSIONS }, signal);
  } catch (error) {
    const isOther = deps.target.kind === 'http' && error instanceof McpFailure && mayBeModern(error);
    if (!isOther || signal.aborted) throw error;
    // What it said first is what there is to know, when it does not know the other revision either.
    return handshake(sdk, deps, { versionNegotiation: { mode: { pin: MODERN } } }, signal).catch(() => {
      throw error;
    });
  }
};

const handshake = async (
  sdk: Sdk,
  deps: SessionDeps,
  options: ClientOptions,
  signal: AbortSignal,
): Promise<Session> => {
  const { target, version } = deps;
  const { timeoutMs } = target;
  const http =
    target.kind === 'http'
      ? createHttpTransport({ ...target, url: addressOf(target.url), ...deps })
      : undefined;
  const transport = target.kind === 'stdio' ? createStdioTransport({ ...target, ...deps }) : http;
  if (!transport) throw protocolFailure('there is no such transport');
  const client = new sdk.Client({ name: 'troupe', version }, { capabilities: {}, ...options });
  client.onerror = (error) => deps.tell(wordsOf(error));
  client.setNotificationHandler('notifications/tools/list_changed', () => deps.changed());
  client.fallbackRequestHandler = async ({ method, params }, { mcpReq }) =>
    deps.answer({ method, params, asker: http?.askedFor(mcpReq.id), signal: mcpReq.signal }).catch(toRefusal);
  const session: Session = { client, transport, http, toFailure: failureIn(sdk) };
  try {
    await client.connect(transport, { signal, timeout: http ? NEVER_MS : timeoutMs });
  } catch (error) {
    await closeSession(session);
    throw session.toFailure(error, { timeoutMs, signal });
  }
  if (!signal.aborted) return session;
  await closeSession(session);
  throw new McpFailure('cancelled', 'the connection is not wanted any more');
};

/** What the client throws, in the words of this room. */
const failureIn =
  (sdk: Sdk): Session['toFailure'] =>
  (error, { timeoutMs, signal }) => {
    if (error instanceof McpFailure) return error;
    if (signal?.aborted) return isTooLate(signal) ? timedOut(timeoutMs) : cancelled();
    if (error instanceof sdk.ProtocolError) {
      return new McpFailure('server', `Server error: MCP Error: ${error.message}`, { code: error.code });
    }
    if (!(error instanceof sdk.SdkError)) return protocolFailure(wordsOf(error));
    const { ConnectionClosed, InvalidResult, NotConnected, RequestTimeout } = sdk.SdkErrorCode;
    if (error.code === RequestTimeout) return timedOut(timeoutMs);
    if (error.code === ConnectionClosed || error.code === NotConnected) return connectionClosed();
    if (error.code === InvalidResult) return new McpFailure('unreadable', `Server error: ${error.message}`);
    return protocolFailure(error.message);
  };

const isTooLate = ({ reason }: AbortSignal): boolean =>
  reason instanceof DOMException && reason.name === 'TimeoutError';

const cancelled = (): McpFailure => new McpFailure('cancelled', 'the call was cancelled');

/** @throws McpFailure; the address is not repeated, as it may hold a password */
const addressOf = (url: string): URL => {
  if (URL.canParse(url)) return new URL(url);
  throw protocolFailure('the url of the server is not legal');
};

export type Question<Result> = {
  method: string;
  params: Record<string, unknown>;
  result: z.ZodType<Result>;
  timeoutMs: number;
  signal?: AbortSignal | undefined;
  /** Tells that the server is at work, and how far it is. */
  progress?: ((progress: Progress) => void) | undefined;
};

/** @throws McpFailure */
export const askSession = async <Result>(session: Session, question: Question<Result>): Promise<Result> => {
  const { method, params, result, timeoutMs, signal, progress } = question;
  if (signal?.aborted) throw cancelled();
  try {
    return await session.client.request({ method, params }, result, {
      timeout: session.http ? NEVER_MS : timeoutMs,
      resetTimeoutOnProgress: true,
      ...(signal && { signal }),
      ...(progress && { onprogress: progress }),
    });
  } catch (error) {
    throw session.toFailure(error, { timeoutMs, signal });
  }
};

export const closeSession = ({ transport }: Pick<Session, 'transport'>): Promise<void> => transport.close();

export const isExpired = ({ http }: Session): boolean => http?.isExpired() ?? false;
