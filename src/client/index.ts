/** `troupe/client`: the service from any program that has `fetch`, in Node and in browsers. */

import type { CanonicalEvent } from '../schema/canonical-event.ts';
import type { Json } from '../schema/json.ts';
import type { ActorFrame, ActorList, LiveActor } from '../schema/live-actor.ts';
import { withoutTrailing } from '../schema/trailing.ts';
import { type Audit, auditOf, type Config, configOf } from './config.ts';
import { type Connection, call, type Method, path, type RequestOptions } from './connection.ts';
import { type Evals, evalsOf } from './evals.ts';
import { follow, followLog } from './follow.ts';
import { type Paged, paged } from './pages.ts';
import { type Runs, runsOf } from './runs.ts';
import { type System, systemOf } from './system.ts';
import { type Threads, threadsOf } from './threads.ts';
import { type Traces, tracesOf } from './traces.ts';

export type { AuditEvent, AuditPage } from '../schema/audit-event.ts';
export type { CanonicalEvent } from '../schema/canonical-event.ts';
export type { ConfigDiagnostics, ConfigEntryMeta } from '../schema/config-answers.ts';
export type { Dataset } from '../schema/dataset.ts';
export type { EvalFrame, EvalRunAnswer, EvalRunList } from '../schema/eval-answers.ts';
export type { EvalRun, EvalRunSummary } from '../schema/eval-run.ts';
export type { Json } from '../schema/json.ts';
export type { ActorFrame, ActorList, LiveActor } from '../schema/live-actor.ts';
export type { ContentBlock, InputBlock, ListedMessage } from '../schema/message.ts';
export type { Run, RunOverridesInput, RunStatus, Termination } from '../schema/run.ts';
export type { RunEvent } from '../schema/run-event.ts';
export type { AgentStats } from '../schema/runtime-stats.ts';
export type { RunSummary, SystemInfo } from '../schema/system.ts';
export type { Thread, ThreadSummary } from '../schema/thread.ts';
export type { TraceEvent, TraceSummary } from '../schema/trace.ts';
export { digestOfCall } from './call-digest.ts';
export type {
  Audit,
  AuditFilter,
  Config,
  EntrySpecs,
  Namespace,
  WritableNamespace,
} from './config.ts';
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
export type { Paged } from './pages.ts';
export type { RunEnd, RunMessage, RunRequest, RunStream } from './run-stream.ts';
export type { EventPage, InputMode, RunFilter, Runs } from './runs.ts';
export type { System } from './system.ts';
export type { MessageFilter, ThreadFilter, ThreadLinks, Threads } from './threads.ts';
export type { TraceFilter, Traces } from './traces.ts';

type Options = { signal?: AbortSignal };

/** Whose calls or events: of a thread, or of a run. */
export type Of = { threadId: string } | { runId: string };

export type Decision = Of & {
  /** Of the ticket (`ticket_id`). */
  toolCallId: string;
  /** `resume` gives the call what it waits for, such as `{ approved: true }`; `cancel` refuses it. */
  action: 'resume' | 'cancel';
  payload?: Json;
  /** Of the call that was shown (`digest` of its ticket), or of the edited call: `digestOfCall`. */
  digest?: string;
  reason?: string;
  /** Who decided, for the record. */
  decidedBy?: string;
};

export type ActorFilter = { machine?: string; thread?: string; run?: string; state?: string };

export type Client = {
  readonly runs: Runs;
  readonly threads: Threads;
  readonly decisions: {
    /**
     * Decides a call that waits. @throws NotFound when it does not wait, or not any more; Conflict when it is not the
     * call that was shown
     */
    decide(decision: Decision, options?: Options): Promise<void>;
  };
  readonly events: {
    /**
     * The durable events of a thread or run, from a cursor or from now on, through any number of cut connections.
     *
     * @throws Gone when the cursor is not of this log; ConnectionLost when the service does not come back
     */
    follow(of: Of & { cursor?: string }, options?: Options): AsyncIterable<CanonicalEvent, void>;
  };
  /** What lives in the service, as statecharts. Needs the rights of an admin. */
  readonly actors: {
    list(
      filter?: ActorFilter & { limit?: number; cursor?: string },
      options?: Options,
    ): Paged<ActorList, LiveActor>;
    /** Those that live, then what happens to them; after a cut, those that live again. */
    follow(filter?: ActorFilter, options?: Options): AsyncIterable<ActorFrame, void>;
  };
  readonly config: Config;
  readonly audit: Audit;
  readonly traces: Traces;
  readonly evals: Evals;
  readonly system: System;
  /**
   * Any other route, as the API description of the service (`/openapi.json`) has it.
   *
   * @param path with its query, such as `/v1/system/machines`
   * @throws TroupeError, ConnectionLost
   * @example
   * const { ok } = await client.request<{ ok: boolean }>('POST', '/v1/providers/openai/test');
   */
  request<Answer = unknown>(
    method: Method,
    path: string,
    options?: { body?: Json } & Options,
  ): Promise<Answer>;
};

export type ClientOptions = {
  /** Where the service is, with the path that it is mounted under. */
  url: string;
  /** For each request, such as the authorization; a function is asked anew each time. */
  headers?: Record<string, string> | (() => Record<string, string>);
  /** Default: that of the platform. */
  fetch?: (request: Request) => Promise<Response>;
  /**
   * The pauses before a stream that was cut is taken up again, in milliseconds, until something comes; after the last
   * it is given up. Default: nine, a minute and a half in all.
   */
  pauses?: readonly number[];
};

/**
 * @throws TypeError when the address is none
 * @example
 * const client = createClient({ url: 'http://127.0.0.1:38080' });
 * const run = client.runs.stream({ agentId: 'default', messages: [{ role: 'user', content: 'Hello' }] });
 * console.log(await run.text());
 */
export const createClient = ({ url, headers = {}, fetch, pauses = PAUSES }: ClientOptions): Client => {
  if (!URL.canParse(url)) throw new TypeError(`url: '${url}' is not an absolute address`);
  const connection: Connection = {
    url: withoutTrailing(url, '/'),
    headers: typeof headers === 'function' ? headers : () => headers,
    fetch: fetch ?? ((request) => globalThis.fetch(request)),
    pauses,
  };
  return {
    runs: runsOf(connection),
    threads: threadsOf(connection),
    decisions: {
      async decide({ toolCallId, action, payload, digest, reason, decidedBy: decided_by, ...of }, options) {
        const body = { toolCallId, action, payload, digest, reason, decided_by };
        await call(connection, 'POST', `${pathOf(of)}/decision`, { signal: options?.signal, body });
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
        // The schema of the frames is that of the document.
        follow(
          connection,
          { target: `${ACTORS}/stream`, query, signal: options?.signal },
          () => query,
        ) as AsyncGenerator<ActorFrame, void>,
    },
    config: configOf(connection),
    audit: auditOf(connection),
    traces: tracesOf(connection),
    evals: evalsOf(connection),
    system: systemOf(connection),
    request: <Answer>(method: Method, target: string, options?: RequestOptions) =>
      call<Answer>(connection, method, target, options),
  };
};

const PAUSES = [100, 250, 500, 1000, 2000, 5000, 10_000, 30_000, 40_000];

const ACTORS = '/v1/system/actors';

const pathOf = (of: Of): string =>
  'runId' in of ? path`/v1/runs/${of.runId}` : path`/v1/threads/${of.threadId}`;
