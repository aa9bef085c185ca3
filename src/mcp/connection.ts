import { urlToHttpOptions } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { type ActorRefFrom, createActor, fromPromise } from 'xstate';
import { mcpConnectionMachine } from '../../machines/mcp-connection.ts';
import type { McpConnectionContext, McpConnectionEvent } from '../../machines/mcp-types.ts';
import type { JsonObject } from '../schema/endpoint.ts';
import type { ServiceLog } from '../schema/log-events.ts';
import type { McpServerSpec } from '../schema/mcp-server.ts';
import { maskForeign } from '../schema/redaction/foreign.ts';
import { longestFirst, secretsOf } from '../schema/redaction/masking.ts';
import type { Authorize } from './authorized.ts';
import { BOUNDS, excerpt } from './bounds.ts';
import { wordsOf } from './failure.ts';
import type { LeftOut } from './left-out.ts';
import { closeLink, type Link, openLink } from './link.ts';
import { listTools, type ToolDefinition } from './listing.ts';
import { refreshInterval, retryOf } from './policy.ts';
import { answerQuestion } from './questions.ts';
import type { AskModel } from './sampling.ts';
import { isModernSession, longestMs, openSession, type Session } from './session.ts';
import { type McpTarget, resolveTarget } from './target.ts';

/**
 * One entry with its connection: the actor that decides, and the state of its services.
 *
 * Guarantees: everything that was opened for the connection is closed before its actor has stopped. Texts of a server
 * leave this module without the secrets of its entry.
 */
export type Connection = {
  readonly spec: McpServerSpec;
  readonly target: McpTarget;
  readonly actor: ActorRefFrom<typeof mcpConnectionMachine>;
  /** Secrets of the entry, longest first. */
  readonly secrets: readonly string[];
  readonly deps: ConnectionDeps;
  /** Absent for a server without `auth`. */
  readonly authorize: Authorize | undefined;
  /** The tokens of the last requests, which texts of the server may repeat. */
  readonly tokens: Set<string>;
  link: Link | undefined;
  /** Identifies the attempt that created the link or is about to create it. */
  era: object | undefined;
  /** Links that are being opened or closed. */
  readonly pending: Set<Promise<unknown>>;
  /** The last tool definitions of the server. */
  definitions: readonly ToolDefinition[];
  /** Listed tools with invalid definitions. */
  unusable: readonly LeftOut[];
  /** Model access of active calls, by run and call, for requests of the server. */
  readonly askers: Map<string, AskModel>;
  calls: number;
  /** Called when no call is active. */
  readonly idle: Set<() => void>;
  /** Number of sessions created or dropped over HTTP. */
  generation: number;
  /** Time of the last handshake, in milliseconds. */
  initializedAt: number | undefined;
  reconnects: number;
  /** Whether its last session had a revision with sessions. */
  wasLegacy: boolean;
  /** Log lines in this second, by level. */
  readonly logCounts: Record<Level, { second: number; count: number }>;
};

type Level = keyof ConnectionDeps['log'];

export type ConnectionDeps = {
  clock: { now(): number };
  log: Pick<ServiceLog, 'debug' | 'warn'>;
  /** Version of this service. */
  version: string;
  refreshMs: number;
  reconnected(server: string): void;
};

export const createConnection = (
  spec: McpServerSpec,
  deps: ConnectionDeps,
  authorize?: Authorize,
): Connection => {
  const host = { current: undefined as Connection | undefined };
  const tokens = new Set<string>();
  const actor = createActor(boundMachine(), {
    id: spec.id,
    input: {
      host,
      now: deps.clock.now,
      threshold: THRESHOLD,
      retry: retryOf(spec.restart_policy),
      refreshMs: refreshInterval(deps.refreshMs, spec.id),
    },
  });
  const connection: Connection = {
    spec,
    target: resolveTarget(spec),
    actor,
    secrets: secretsIn(spec),
    deps,
    authorize: authorize && noting(tokens, authorize),
    tokens,
    link: undefined,
    era: undefined,
    pending: new Set(),
    definitions: [],
    unusable: [],
    askers: new Map(),
    calls: 0,
    idle: new Set(),
    generation: 0,
    initializedAt: undefined,
    reconnects: 0,
    wasLegacy: false,
    logCounts: { debug: { second: 0, count: 0 }, warn: { second: 0, count: 0 } },
  };
  host.current = connection;
  return connection;
};

/** Requests of two refreshes may be pending at once. */
const MOST_TOKENS = 4;

const noting =
  (tokens: Set<string>, authorize: Authorize): Authorize =>
  async (refusal) => {
    const token = await authorize(refusal);
    tokens.delete(token);
    tokens.add(token);
    const [oldest] = tokens;
    if (tokens.size > MOST_TOKENS && oldest !== undefined) tokens.delete(oldest);
    return token;
  };

/** Includes the encoded form of credentials in the URL. */
const secretsIn = (spec: McpServerSpec): string[] => {
  // A parsed spec is JSON.
  const secrets = secretsOf({ ...spec } as JsonObject);
  const { url = '' } = spec;
  const { auth } = URL.canParse(url) ? optionsOf(new URL(url)) : {};
  return auth ? longestFirst([...secrets, Buffer.from(auth).toString('base64')]) : secrets;
};

/** Incorrectly encoded userinfo cannot be sent, so it contains no secret. */
const optionsOf = (url: URL): { auth?: string | null | undefined } => {
  try {
    return urlToHttpOptions(url);
  } catch {
    return {};
  }
};

const THRESHOLD = 3;

/** Time for active calls to complete after their entry was removed. */
const DRAIN_MS = 10_000;

/** Sends an event to the actor unless it has stopped. */
export const sendEvent = ({ actor }: Connection, event: McpConnectionEvent): void => {
  if (actor.getSnapshot().status === 'active') actor.send(event);
};

/**
 * Masks secrets in a text for display. The text is shortened afterwards, because a partial secret would not be
 * recognized.
 */
export const masked = ({ secrets, tokens }: Pick<Connection, 'secrets' | 'tokens'>, text: string): string =>
  excerpt(maskForeign(text, tokens.size === 0 ? secrets : [...tokens, ...secrets]), BOUNDS.shownChars);

/** Logs a text of a server, up to a number of lines per second. */
const noteInLog = (connection: Connection, level: Level, text: string): void => {
  const second = Math.floor(performance.now() / 1000);
  const logCounts = connection.logCounts[level];
  logCounts.count = second === logCounts.second ? logCounts.count + 1 : 1;
  logCounts.second = second;
  if (logCounts.count <= BOUNDS.logRate[level])
    connection.deps.log[level]('mcp.server_message', {
      server: connection.spec.id,
      told: masked(connection, text),
    });
};

/** Tracks work even after the machine has moved on. */
const track = async <Result>(connection: Connection, work: Promise<Result>): Promise<Result> => {
  connection.pending.add(work);
  try {
    return await work;
  } finally {
    connection.pending.delete(work);
  }
};

const inTime = (connection: Connection, signal: AbortSignal): AbortSignal =>
  AbortSignal.any([signal, AbortSignal.timeout(longestMs(connection.target.timeoutMs))]);

const connect = async (connection: Connection, wanted: AbortSignal): Promise<void> => {
  const signal = inTime(connection, wanted);
  const era = {};
  connection.era = era;
  const link = await track(
    connection,
    openLink((given) => openFor(connection, era, given), signal),
  );
  connection.link = link;
  try {
    connection.definitions = await readTools(connection, link, signal);
  } catch (error) {
    await track(connection, drop(connection, link));
    throw error;
  }
  if (wanted.aborted) await track(connection, drop(connection, link));
  else if (connection.actor.getSnapshot().context.reached) {
    connection.reconnects += 1;
    connection.deps.reconnected(connection.spec.id);
  }
};

/** @param era identifies the attempt; the outcome of a superseded attempt is ignored */
const openFor = async (connection: Connection, era: object, signal: AbortSignal): Promise<Session> => {
  const { target, deps } = connection;
  const session = await openSession(
    {
      target,
      authorize: connection.authorize,
      version: deps.version,
      wasLegacy: connection.wasLegacy,
      report: (text) => noteInLog(connection, 'debug', text),
      warn: (text) => noteInLog(connection, 'warn', text),
      changed: () => sendEvent(connection, { type: 'TOOLS_CHANGED' }),
      lost(reason) {
        if (connection.era !== era) return;
        sendEvent(connection, { type: 'LOST', error: masked(connection, reason) });
      },
      expired() {
        connection.generation += 1;
      },
      answer: (question) =>
        answerQuestion(question, connection.askers.get(identifyCall(question.asker?.params))),
    },
    signal,
  );
  if (target.kind === 'http') connection.generation += 1;
  connection.wasLegacy = !isModernSession(session);
  connection.initializedAt = deps.clock.now();
  return session;
};

const drop = async (connection: Connection, link: Link): Promise<void> => {
  if (connection.link === link) connection.link = undefined;
  await closeLink(link);
};

const readTools = async (
  connection: Connection,
  link: Link,
  signal: AbortSignal,
): Promise<readonly ToolDefinition[]> => {
  const found = await listTools(link, {
    timeoutMs: connection.target.timeoutMs,
    signal,
    report: (problem) =>
      connection.deps.log.warn('mcp.tools_not_read', {
        server: connection.spec.id,
        problem: masked(connection, problem),
      }),
  });
  const { definitions, unusable } = connection;
  if (isDeepStrictEqual(found, { tools: definitions, unusable })) return definitions;
  connection.unusable = found.unusable;
  return found.tools;
};

const list = async (connection: Connection, signal: AbortSignal): Promise<void> => {
  if (!connection.link) throw new Error('mcp transport error: connection closed');
  connection.definitions = await readTools(connection, connection.link, signal);
};

const drain = (connection: Connection): Promise<void> =>
  new Promise((resolve) => {
    if (connection.calls === 0) return resolve();
    const done = (): void => {
      clearTimeout(timer);
      resolve();
    };
    const timer = setTimeout(done, DRAIN_MS);
    connection.idle.add(done);
  });

const close = async (connection: Connection): Promise<void> => {
  const { link } = connection;
  if (link) await drop(connection, link);
  await Promise.allSettled(connection.pending);
};

/** Key of the call in the metadata of a request. */
export const ATTRIBUTION = 'service/attribution';

export const identifyCall = (params: Record<string, unknown> | undefined): string => {
  const { _meta } = (params ?? {}) as { _meta?: { [ATTRIBUTION]?: { run_id?: unknown; call_id?: unknown } } };
  const { run_id, call_id } = _meta?.[ATTRIBUTION] ?? {};
  return `${run_id} ${call_id}`;
};

// The host of every connection machine is the connection that it was created for.
const connectionOf = ({ host }: McpConnectionContext): Connection =>
  (host as { current: Connection }).current;

/** Masks the secrets of the entry in all errors. */
const service = (work: (connection: Connection, signal: AbortSignal) => Promise<void>) =>
  fromPromise<void, McpConnectionContext>(async ({ input, signal }) => {
    const connection = connectionOf(input);
    try {
      await work(connection, signal);
    } catch (error) {
      throw new Error(masked(connection, wordsOf(error)));
    }
  });

let bound: ReturnType<typeof bindMachine> | undefined;

const boundMachine = () => {
  bound ??= bindMachine();
  return bound;
};

const bindMachine = () =>
  mcpConnectionMachine.provide({
    actors: {
      connect: service(connect),
      list: service(list),
      drain: service(drain),
      close: service(close),
    },
  });
