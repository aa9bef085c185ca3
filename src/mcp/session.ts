import type { Client, ClientOptions, Progress, Transport } from '@modelcontextprotocol/client';
import type { z } from 'zod';
import type { JsonObject } from '../schema/endpoint.ts';
import { LONGEST_TIMER_MS, timerMs } from '../schema/timer.ts';
import type { Authorize } from './authorized.ts';
import {
  connectionClosed,
  McpFailure,
  protocolFailure,
  serverFailure,
  timedOut,
  transportFailure,
  wordsOf,
} from './failure.ts';
import { createHttpTransport } from './http.ts';
import type { HttpTransport } from './http-session.ts';
import { REFUSED } from './message.ts';
import { MODERN, mayBeModern } from './modern.ts';
import type { ServerQuestion } from './questions.ts';
import { toRefusal } from './refusal.ts';
import { createStdioTransport } from './stdio.ts';
import { type McpTarget, unsendableIn } from './target.ts';

/**
 * One initialized session with a server: the official client over one of the transports. The client performs the
 * handshake, matches responses to requests, and responds to pings.
 *
 * The library is loaded with the first session, so it costs nothing without servers.
 */
export type Session = {
  readonly client: Client;
  readonly transport: Transport;
  readonly http: HttpTransport | undefined;
  readonly toFailure: (
    error: unknown,
    request: { timeoutMs: number; signal?: AbortSignal | undefined },
  ) => McpFailure;
};

export type SessionDeps = {
  target: McpTarget;
  authorize?: Authorize | undefined;
  /** Version of this service. */
  version: string;
  /** Logs a text, which may contain server output. */
  report(text: string): void;
  /** Logs a warning for the operator, which may contain server output. */
  warn(text: string): void;
  /** Called when the server reports that its tools have changed. */
  changed(): void;
  /** Called when the child has ended. */
  lost(reason: string): void;
  /** Called when the server has dropped the session; another one may be opened. */
  expired(): void;
  /** Whether the server had a session before, so that the newest revision is not tried first. */
  wasLegacy?: boolean;
  /** Handles a request of the server. @throws Refusal */
  answer(question: ServerQuestion): Promise<JsonObject>;
};

/** Supported revisions; the newest is offered. */
const VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];

/** Maximum duration of a request in multiples of its timeout, whatever activity extends it. */
const PATIENCE = 4;

/** The same limit for a request that reports progress. */
const PATIENCE_WITH_PROGRESS = 60;

/** Returns the time after which a request ends even if its server is still active. */
export const longestMs = (timeoutMs: number, reportsProgress = false): number =>
  timerMs(timeoutMs * (reportsProgress ? PATIENCE_WITH_PROGRESS : PATIENCE));

type Sdk = typeof import('@modelcontextprotocol/client');

/** @throws McpFailure */
export const openSession = async (deps: SessionDeps, signal: AbortSignal): Promise<Session> => {
  const unsendable = unsendableIn(deps.target);
  if (unsendable !== undefined) throw transportFailure(unsendable);
  const sdk = await import('@modelcontextprotocol/client');
  const { target, wasLegacy = false } = deps;
  const modern = (timeoutMs: number): Promise<Session> =>
    handshake(sdk, deps, { versionNegotiation: { mode: { pin: MODERN }, probe: { timeoutMs } } }, signal);
  if (target.kind === 'http' && !wasLegacy) {
    const probed = await modern(Math.min(target.timeoutMs, PROBE_MS)).catch(() => undefined);
    if (probed) return probed;
    if (signal.aborted) throw abortedFailure(signal, target.timeoutMs);
  }
  try {
    return await handshake(sdk, deps, { supportedProtocolVersions: VERSIONS }, signal);
  } catch (error) {
    const isOther = target.kind === 'http' && error instanceof McpFailure && mayBeModern(error);
    if (!isOther || signal.aborted) throw error;
    // If the server does not support the other revision either, the original refusal is reported.
    return modern(target.timeoutMs).catch(() => {
      throw error;
    });
  }
};

/** A server of the newest revision that starts more slowly is detected after it has rejected a session. */
const PROBE_MS = 4000;

/** Returns whether the session has the revision without sessions. */
export const isModernSession = ({ client }: Session): boolean => client.getProtocolEra() === 'modern';

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
  if (!transport) throw protocolFailure('unknown transport');
  const client = new sdk.Client({ name: 'troupe', version }, { capabilities: {}, ...options });
  client.onerror = (error) => deps.report(wordsOf(error));
  client.setNotificationHandler('notifications/tools/list_changed', () => deps.changed());
  client.fallbackNotificationHandler = async ({ method, params }) => {
    if (method === REFUSED) deps.warn(String(params?.reason));
  };
  client.fallbackRequestHandler = async ({ method, params }, { mcpReq }) =>
    deps.answer({ method, params, asker: http?.originOf(mcpReq.id), signal: mcpReq.signal }).catch(toRefusal);
  const session: Session = { client, transport, http, toFailure: failureIn(sdk) };
  const { within, timeout, failureOf } = timed(session, { timeoutMs, signal });
  try {
    await client.connect(transport, { signal: within, timeout });
  } catch (error) {
    await closeSession(session);
    throw failureOf(error);
  }
  if (!signal.aborted) return session;
  await closeSession(session);
  throw new McpFailure('cancelled', 'the connection is no longer needed');
};

/** Converts errors of the client to failures. */
const failureIn =
  (sdk: Sdk): Session['toFailure'] =>
  (error, { timeoutMs, signal }) => {
    if (error instanceof McpFailure) return error;
    if (signal?.aborted) return abortedFailure(signal, timeoutMs);
    if (error instanceof sdk.ProtocolError) {
      return serverFailure(error);
    }
    if (!(error instanceof sdk.SdkError)) return protocolFailure(wordsOf(error));
    const { ConnectionClosed, InvalidResult, NotConnected, RequestTimeout } = sdk.SdkErrorCode;
    if (error.code === RequestTimeout) return timedOut(timeoutMs);
    if (error.code === ConnectionClosed || error.code === NotConnected) return connectionClosed();
    if (error.code === InvalidResult) return new McpFailure('unreadable', `Server error: ${error.message}`);
    return protocolFailure(error.message);
  };

/** @param signal an aborted signal, whose reason is a timeout or a cancellation by the caller */
export const abortedFailure = ({ reason }: AbortSignal, timeoutMs: number): McpFailure =>
  reason instanceof DOMException && reason.name === 'TimeoutError'
    ? timedOut(timeoutMs)
    : new McpFailure('cancelled', 'the call was cancelled');

/** @throws McpFailure without the address, which may contain a password */
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
  /** Headers in addition to those of the protocol. */
  headers?: Readonly<Record<string, string>> | undefined;
  /** Called when the server reports activity and progress. */
  progress?: ((progress: Progress) => void) | undefined;
};

/** @throws McpFailure */
export const askSession = async <Result>(session: Session, question: Question<Result>): Promise<Result> => {
  const { method, params, result, timeoutMs, signal, progress, headers } = question;
  if (signal?.aborted) throw abortedFailure(signal, timeoutMs);
  const { within, timeout, failureOf } = timed(session, { timeoutMs, signal, progress });
  try {
    return await session.client.request({ method, params }, result, {
      timeout,
      resetTimeoutOnProgress: true,
      signal: within,
      ...(progress && { onprogress: progress }),
      ...(headers && { headers }),
    });
  } catch (error) {
    throw failureOf(error);
  }
};

/**
 * Limits the time of one request. The HTTP transport ends one whose server is silent for `timeoutMs`; over stdio the
 * client does, and progress counts as activity. Neither lasts longer than `longestMs`.
 */
const timed = (
  { http, toFailure }: Session,
  { timeoutMs, signal, progress }: Pick<Question<unknown>, 'timeoutMs' | 'signal' | 'progress'>,
) => {
  const most = longestMs(timeoutMs, progress !== undefined);
  const late = AbortSignal.timeout(most);
  const within = signal ? AbortSignal.any([signal, late]) : late;
  return {
    within,
    timeout: http ? LONGEST_TIMER_MS : timeoutMs,
    failureOf: (error: unknown): McpFailure =>
      toFailure(error, { timeoutMs: late.aborted ? most : timeoutMs, signal: within }),
  };
};

export const closeSession = ({ transport }: Pick<Session, 'transport'>): Promise<void> => transport.close();

export const isExpired = ({ http }: Session): boolean => http?.isExpired() ?? false;
