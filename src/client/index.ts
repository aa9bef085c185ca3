/**
 * A typed client of the service for any program with `fetch`, in Node and in browsers, without dependencies.
 *
 * `createClient` returns the client. See guides/client.md.
 *
 * @module troupe/client
 */

import type { CanonicalEvent } from '../schema/canonical-event.ts';
import type { Json } from '../schema/json.ts';
import type { ActorFrame, ActorList, LiveActor } from '../schema/live-actor.ts';
import { withoutTrailing } from '../schema/trailing.ts';
import type { Who } from '../schema/who.ts';
import { type AccessLog, createAccessLog } from './access-log.ts';
import { type Audit, type Config, createAudit, createConfig } from './config.ts';
import { type Connection, call, type Method, path, type RequestOptions } from './connection.ts';
import { type Connections, createConnections } from './connections.ts';
import { createEvals, type Evals } from './evals.ts';
import { createFiles, type Files } from './files.ts';
import { follow, followLog } from './follow.ts';
import { createKeys, createUsers, type Keys, type Users } from './identity.ts';
import type { KeyedOptions } from './keyed.ts';
import { type Paged, paged } from './pages.ts';
import { createRuns, type Runs } from './runs.ts';
import { createSessions, type Sessions } from './sessions.ts';
import { createSystem, type System } from './system.ts';
import { createThreads, type Threads } from './threads.ts';
import { createTickets, type Tickets } from './tickets.ts';
import { createToken, type TokenSource } from './token.ts';
import { createTraces, type Traces } from './traces.ts';
import { createUsage, type Usage } from './usage.ts';

export type { AccessEvent, AccessPage } from '../schema/access-event.ts';
export type { AgentVersion, AgentVersionDiff } from '../schema/agent-version.ts';
export type { ApiKey, CreatedKey, KeyChange, NewKey } from '../schema/api-key.ts';
export type { AuditEvent, AuditPage } from '../schema/audit-event.ts';
export type {
  Authorization,
  AuthorizationEnd,
  Connection,
  ConnectionList,
  StartedAuthorization,
} from '../schema/authorization.ts';
export type { CanonicalEvent } from '../schema/canonical-event.ts';
export type { ConfigDiagnostics, ConfigEntryMeta } from '../schema/config-answers.ts';
export type { Dataset } from '../schema/dataset.ts';
export type { EvalFrame, EvalRunAnswer, EvalRunList } from '../schema/eval-answers.ts';
export type { EvalRun, EvalRunSummary } from '../schema/eval-run.ts';
export type { FilePurpose, StoredFile } from '../schema/file.ts';
export type { Json } from '../schema/json.ts';
export type { ActorFrame, ActorList, LiveActor } from '../schema/live-actor.ts';
export type { Members } from '../schema/members.ts';
export type { ContentBlock, InputBlock, ListedMessage } from '../schema/message.ts';
export type { ListedRun, Run, RunStatus, Termination } from '../schema/run.ts';
export type { RunEvent } from '../schema/run-event.ts';
export type { RunOverridesInput } from '../schema/run-overrides.ts';
export type { RunOutcome, RunSort } from '../schema/run-query.ts';
export type { AgentStats } from '../schema/runtime-stats.ts';
export type { Session, SessionList } from '../schema/session.ts';
export type { StreamTicket } from '../schema/stream-ticket.ts';
export type { RunSummary, SystemInfo } from '../schema/system.ts';
export type { Thread, ThreadSummary } from '../schema/thread.ts';
export type { TraceEvent, TracePage, TraceSummary } from '../schema/trace.ts';
export type { UsageItem } from '../schema/usage.ts';
export type { NewUser, User, UserChange } from '../schema/user.ts';
export type { Who } from '../schema/who.ts';
export type { AccessFilter, AccessLog } from './access-log.ts';
export { digestOfCall } from './call-digest.ts';
export type {
  Audit,
  AuditFilter,
  Config,
  EntrySpecs,
  Namespace,
  WritableNamespace,
} from './config.ts';
export type { Connections } from './connections.ts';
export {
  Conflict,
  ConnectionLost,
  Gone,
  InvalidRequest,
  NotFound,
  OutputInvalid,
  RunFailed,
  TroupeError,
  Unauthorized,
  Unavailable,
} from './errors.ts';
export type { DatasetHead, EvalRunFilter, Evals } from './evals.ts';
export { fileBlock } from './file-block.ts';
export type { FileFilter, FilePage, Files, NewFile } from './files.ts';
export type { Keys, Users } from './identity.ts';
export type { KeyedOptions } from './keyed.ts';
export type { Paged } from './pages.ts';
export type { RunMessage, RunRequest } from './run-request.ts';
export type { RunEnd, RunStream } from './run-stream.ts';
export type { EventPage, InputMode, RunFilter, Runs } from './runs.ts';
export type { Sessions } from './sessions.ts';
export type { System } from './system.ts';
export type { Fork, MessageFilter, ThreadFilter, ThreadLinks, Threads } from './threads.ts';
export type { Tickets } from './tickets.ts';
export type { TokenSource } from './token.ts';
export type { TraceFilter, TraceSearch, Traces } from './traces.ts';
export type { Usage, UsageQuery } from './usage.ts';

type Options = { signal?: AbortSignal };

/**
 * Selects a thread or a run.
 *
 * @example
 * ```ts
 * const target: Of = { runId: 'run-1' };
 * for await (const { event_kind } of client.events.follow(target)) console.log(event_kind);
 * ```
 */
export type Of = { threadId: string } | { runId: string };

/**
 * A decision of a person on a call that waits for it (runtime.md 12).
 *
 * @example
 * ```ts
 * const { waiting } = await client.runs.get('run-1');
 * for (const { tool_call_id, digest } of waiting?.tickets ?? []) {
 *   const decision: Decision = { runId: 'run-1', toolCallId: tool_call_id, action: 'resume', decidedBy: 'Ada' };
 *   await client.decisions.decide({ ...decision, payload: { approved: true }, ...(digest && { digest }) });
 * }
 * ```
 */
export type Decision = Of & {
  /** The `ticket_id` of the ticket. */
  toolCallId: string;
  /** `resume` passes the payload to the call, such as `{ approved: true }`; `cancel` denies the call. */
  action: 'resume' | 'cancel';
  payload?: Json;
  /** Digest of the displayed call (`digest` of its ticket), or of the edited call: `digestOfCall`. */
  digest?: string;
  reason?: string;
  /** Name of the decider, for the record. */
  decidedBy?: string;
};

/**
 * Selects live actors. `machine` is the name of a statechart; `run` includes all work for that run; `state` is a
 * path, or the name of a state at any depth.
 *
 * @example
 * ```ts
 * const filter: ActorFilter = { machine: 'run', state: 'inferring' };
 * const { total } = await client.actors.list(filter);
 * ```
 */
export type ActorFilter = { machine?: string; thread?: string; run?: string; state?: string };

/**
 * A client of one service. `createClient` makes it; in an embedding program, `Troupe` is one too.
 *
 * @example
 * ```ts
 * const lastTextOf = async (client: Client, threadId: string): Promise<string | undefined> => {
 *   const [latest] = (await client.runs.list({ threadId, status: 'done' })).items.slice(-1);
 *   return latest?.final_output;
 * };
 * ```
 */
export type Client = {
  readonly runs: Runs;
  readonly threads: Threads;
  readonly decisions: {
    /**
     * Decides a pending call.
     *
     * @throws NotFound if it is not, or no longer, pending; Conflict if it differs from the displayed call
     */
    decide(decision: Decision, options?: KeyedOptions): Promise<void>;
  };
  readonly events: {
    /**
     * Yields the durable events of a thread or run, from a cursor or from the current end, across interrupted
     * connections.
     *
     * @throws Gone if the cursor does not belong to this log; ConnectionLost if the service stays unreachable
     */
    follow(of: Of & { cursor?: string }, options?: Options): AsyncIterable<CanonicalEvent, void>;
  };
  /** The live actors of the service as statecharts. Requires admin rights. */
  readonly actors: {
    /** Lists live actors, followed by the runs that wait in the store and have none. */
    list(
      filter?: ActorFilter & { limit?: number; cursor?: string },
      options?: Options,
    ): Paged<ActorList, LiveActor>;
    /** Yields the live actors, then their events; after an interruption, the live actors again. */
    follow(filter?: ActorFilter, options?: Options): AsyncIterable<ActorFrame, void>;
  };
  readonly config: Config;
  readonly audit: Audit;
  /**
   * Returns whom the requests of this client act for, and what they may do. Without a credential, `authenticated` is
   * false.
   *
   * @throws Unauthorized for a bad credential
   */
  identity(options?: Options): Promise<Who>;
  readonly keys: Keys;
  readonly sessions: Sessions;
  readonly tickets: Tickets;
  readonly files: Files;
  readonly connections: Connections;
  readonly usage: Usage;
  readonly users: Users;
  readonly accessLog: AccessLog;
  readonly traces: Traces;
  readonly evals: Evals;
  readonly system: System;
  /**
   * Sends a request to any other route in the API description of the service (`/openapi.json`).
   *
   * @param path with its query, such as `/v1/system/machines`
   * @throws TroupeError, ConnectionLost
   * @example
   * ```ts
   * const { ok } = await client.request<{ ok: boolean }>('POST', '/v1/providers/openai/test');
   * ```
   */
  request<Answer = unknown>(
    method: Method,
    path: string,
    options?: { body?: Json } & Options,
  ): Promise<Answer>;
};

/**
 * Options of `createClient`.
 *
 * @example
 * ```ts
 * import { readFile } from 'node:fs/promises';
 *
 * const options: ClientOptions = {
 *   url: 'https://agents.example.com/api',
 *   token: () => readFile('/run/secrets/troupe-token', 'utf8').then((text) => text.trim()),
 * };
 * const client = createClient(options);
 * ```
 */
export type ClientOptions = {
  /** Address of the service, including the path at which it is mounted. */
  url: string;
  /**
   * The bearer token of all requests, or a function that returns it. The function may be asynchronous; it is called
   * again after a 401, and the rejected request is repeated with the new token. An error of the function is that of the
   * request.
   */
  token?: TokenSource;
  /** Further headers of each request; a function is called for every request. `token` replaces `authorization`. */
  headers?: Record<string, string> | (() => Record<string, string>);
  /** Default: the `fetch` of the platform. */
  fetch?: (request: Request) => Promise<Response>;
  /**
   * Delays in milliseconds before attempts to resume an interrupted stream; a received frame resets them. After the
   * last one, the stream fails. Default: nine, a minute and a half in all.
   */
  pauses?: readonly number[];
};

/**
 * Creates a client of the service at an address. It opens no connection before the first request.
 *
 * @throws TypeError when the address or the token is invalid
 * @example
 * ```ts
 * const client = createClient({ url: 'http://127.0.0.1:38080' });
 * const run = client.runs.stream({ agentId: 'default', messages: [{ role: 'user', content: 'Hello' }] });
 * console.log(await run.text());
 * ```
 */
export const createClient = ({ url, token, headers = {}, fetch, pauses = PAUSES }: ClientOptions): Client => {
  if (!URL.canParse(url)) throw new TypeError(`url: '${url}' is not an absolute address`);
  const connection: Connection = {
    url: withoutTrailing(url, '/'),
    headers: typeof headers === 'function' ? headers : () => headers,
    token: token === undefined ? undefined : createToken(token),
    fetch: fetch ?? ((request) => globalThis.fetch(request)),
    pauses,
  };
  return {
    runs: createRuns(connection),
    threads: createThreads(connection),
    decisions: {
      async decide({ toolCallId, action, payload, digest, reason, decidedBy: decided_by, ...of }, options) {
        const body = { toolCallId, action, payload, digest, reason, decided_by };
        await call(connection, 'POST', `${pathOf(of)}/decision`, { ...options, body });
      },
    },
    events: {
      follow: ({ cursor, ...of }, options) =>
        followLog(connection, `${pathOf(of)}/events/stream`, { cursor, signal: options?.signal }),
    },
    actors: {
      list: ({ cursor, ...query } = {}, options) =>
        paged(
          (from) =>
            call<ActorList>(connection, 'GET', ACTORS, {
              signal: options?.signal,
              query: { ...query, cursor: from },
            }),
          ({ items }) => items,
          cursor,
        ),
      follow: (query = {}, options) =>
        // The frames have the documented schema.
        follow(
          connection,
          { target: `${ACTORS}/stream`, query, signal: options?.signal },
          () => query,
        ) as AsyncGenerator<ActorFrame, void>,
    },
    config: createConfig(connection),
    audit: createAudit(connection),
    identity: (options) => call(connection, 'GET', '/v1/identity', options),
    keys: createKeys(connection),
    sessions: createSessions(connection),
    tickets: createTickets(connection),
    files: createFiles(connection),
    connections: createConnections(connection),
    usage: createUsage(connection),
    users: createUsers(connection),
    accessLog: createAccessLog(connection),
    traces: createTraces(connection),
    evals: createEvals(connection),
    system: createSystem(connection),
    request: <Answer>(method: Method, target: string, options?: RequestOptions) =>
      call<Answer>(connection, method, target, options),
  };
};

const PAUSES = [100, 250, 500, 1000, 2000, 5000, 10_000, 30_000, 40_000];

const ACTORS = '/v1/system/actors';

const pathOf = (of: Of): string =>
  'runId' in of ? path`/v1/runs/${of.runId}` : path`/v1/threads/${of.threadId}`;
