import { urlToHttpOptions } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { type ActorRefFrom, createActor, fromPromise } from 'xstate';
import {
  type McpConnectionContext,
  type McpConnectionEvent,
  mcpConnectionMachine,
} from '../../machines/mcp-connection.ts';
import type { JsonObject } from '../schema/endpoint.ts';
import type { McpServerSpec } from '../schema/mcp-server.ts';
import { maskForeign } from '../schema/redaction/foreign.ts';
import { longestFirst, secretsOf } from '../schema/redaction/masking.ts';
import { BOUNDS, excerpt } from './bounds.ts';
import { wordsOf } from './failure.ts';
import type { LeftOut } from './left-out.ts';
import { closeLink, type Link, openLink } from './link.ts';
import { listTools, type ToolDefinition } from './listing.ts';
import { refreshOf, retryOf } from './policy.ts';
import { answerQuestion } from './questions.ts';
import type { AskModel } from './sampling.ts';
import { isModernSession, longestMs, openSession, type Session } from './session.ts';
import { type McpTarget, targetOf } from './target.ts';

/**
 * One entry and what connects to it: the actor that decides, and what its services need.
 *
 * Guarantees: everything that was opened for it is closed before its actor has stopped. What a server says comes out
 * of here without the secrets of its entry.
 */
export type Connection = {
  readonly spec: McpServerSpec;
  readonly target: McpTarget;
  readonly actor: ActorRefFrom<typeof mcpConnectionMachine>;
  /** Of the entry, the longest first. */
  readonly secrets: readonly string[];
  readonly deps: ConnectionDeps;
  link: Link | undefined;
  /** Of the attempt that made the link, or is about to. */
  era: object | undefined;
  /** Being opened or closed. */
  readonly pending: Set<Promise<unknown>>;
  /** As the server said last. */
  definitions: readonly ToolDefinition[];
  /** Listed tools that cannot be read. */
  unusable: readonly LeftOut[];
  /** Of calls that are under way, by run and call: who answers what the server asks meanwhile. */
  readonly askers: Map<string, AskModel>;
  calls: number;
  /** Told when there are none. */
  readonly idle: Set<() => void>;
  /** How often a session was made or dropped, over HTTP. */
  generation: number;
  /** milliseconds */
  initializedAt: number | undefined;
  reconnects: number;
  /** Its last session was of a revision that has sessions. */
  wasLegacy: boolean;
  /** Lines of the log in this second, by level. */
  readonly told: Record<Level, { second: number; count: number }>;
};

type Level = keyof ConnectionDeps['log'];

export type ConnectionDeps = {
  clock: { now(): number };
  log: { debug(data: object, text: string): void; warn(data: object, text: string): void };
  /** Of this service. */
  version: string;
  refreshMs: number;
  reconnected(server: string): void;
};

export const createConnection = (spec: McpServerSpec, deps: ConnectionDeps): Connection => {
  const host = { current: undefined as Connection | undefined };
  const actor = createActor(boundMachine(), {
    id: spec.id,
    input: {
      host,
      now: deps.clock.now,
      threshold: THRESHOLD,
      retry: retryOf(spec.restart_policy),
      refreshMs: refreshOf(deps.refreshMs, spec.id),
    },
  });
  const connection: Connection = {
    spec,
    target: targetOf(spec),
    actor,
    secrets: secretsIn(spec),
    deps,
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
    told: { debug: { second: 0, count: 0 }, warn: { second: 0, count: 0 } },
  };
  host.current = connection;
  return connection;
};

/** Also as HTTP sends them. */
const secretsIn = (spec: McpServerSpec): string[] => {
  // A spec that was parsed is JSON.
  const secrets = secretsOf({ ...spec } as JsonObject);
  const { url = '' } = spec;
  const { auth } = URL.canParse(url) ? optionsOf(new URL(url)) : {};
  return auth ? longestFirst([...secrets, Buffer.from(auth).toString('base64')]) : secrets;
};

/** Of userinfo that is not encoded correctly there is nothing that could be sent. */
const optionsOf = (url: URL): { auth?: string | null | undefined } => {
  try {
    return urlToHttpOptions(url);
  } catch {
    return {};
  }
};

const THRESHOLD = 3;

/** How long calls may go on when their entry is gone. */
const DRAIN_MS = 10_000;

/** Tells the actor, which may be gone. */
export const tell = ({ actor }: Connection, event: McpConnectionEvent): void => {
  if (actor.getSnapshot().status === 'active') actor.send(event);
};

/** What may be shown. It is cut behind the masking: half a secret would not be recognised. */
export const masked = ({ secrets }: Pick<Connection, 'secrets'>, text: string): string =>
  excerpt(maskForeign(text, secrets), BOUNDS.shownChars);

/** A server that says much is quoted a few times a second. */
const noteInLog = (connection: Connection, level: Level, text: string): void => {
  const second = Math.floor(performance.now() / 1000);
  const told = connection.told[level];
  told.count = second === told.second ? told.count + 1 : 1;
  told.second = second;
  if (told.count <= BOUNDS.logRate[level])
    connection.deps.log[level](
      { server: connection.spec.id, told: masked(connection, text) },
      'from an MCP server',
    );
};

/** Also when the machine has gone on without it. */
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

/** @param era of the attempt; when another one has begun, nobody cares how this one ends */
const openFor = async (connection: Connection, era: object, signal: AbortSignal): Promise<Session> => {
  const { target, deps } = connection;
  const session = await openSession(
    {
      target,
      version: deps.version,
      wasLegacy: connection.wasLegacy,
      tell: (text) => noteInLog(connection, 'debug', text),
      warn: (text) => noteInLog(connection, 'warn', text),
      changed: () => tell(connection, { type: 'TOOLS_CHANGED' }),
      lost(reason) {
        if (connection.era !== era) return;
        tell(connection, { type: 'LOST', error: masked(connection, reason) });
      },
      expired() {
        connection.generation += 1;
      },
      answer: (question) => answerQuestion(question, connection.askers.get(askerOf(question.asker?.params))),
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
    tell: (problem) =>
      connection.deps.log.warn(
        { server: connection.spec.id, problem: masked(connection, problem) },
        'not all tools of an MCP server are read',
      ),
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

/** By what a call says of itself to the server. */
export const ATTRIBUTION = 'service/attribution';

export const askerOf = (params: Record<string, unknown> | undefined): string => {
  const { _meta } = (params ?? {}) as { _meta?: { [ATTRIBUTION]?: { run_id?: unknown; call_id?: unknown } } };
  const { run_id, call_id } = _meta?.[ATTRIBUTION] ?? {};
  return `${run_id} ${call_id}`;
};

// The host of every connection machine is the connection that it was made for.
const connectionOf = ({ host }: McpConnectionContext): Connection =>
  (host as { current: Connection }).current;

/** Whatever goes wrong is said without the secrets of the entry. */
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
