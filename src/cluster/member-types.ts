import type { AnyActorRef } from 'xstate';
import type { MemberState } from '../../machines/member.ts';
import type { Agreed, Database, DatabaseOptions } from '../postgres/index.ts';
import type { Clock } from '../schema/clock.ts';
import type { ServiceLog } from '../schema/log-events.ts';
import type { RowContent, Sink } from '../store/engine/sink.ts';

export type { MemberState };

/** Another member, as requests reach it. */
export type Peer = { id: string; name: string; url: string };

/** The connection of a service to a membership: the copy is filled from `rows`, and commits pass `sink`. */
export type Held = {
  id: string;
  slot: number;
  sink: Sink;
  /** All rows of the database, in one snapshot. It fails when the membership ends. */
  rows: AsyncIterable<readonly RowContent[]>;
  /** Reports that the copy lacks a commit that the database has. */
  copyBroken(error: Error): void;
};

/** The service of a member while it is active. */
export type Served = {
  /** Cuts streams and answers new requests with 503 until `resume`. Runs continue. */
  suspend(): void;
  resume(): void;
  /** Ends gracefully, and commits what ends. */
  drain(): Promise<void>;
  /** Ends at once, without a write. */
  abandon(): Promise<void>;
  figures(): ServedFigures;
};

/** Numbers for the list of members. */
export type ServedFigures = { executing: number; waiting: number; copyBytes: number; lineages: number };

export type MemberOptions = {
  database: Omit<DatabaseOptions, 'observe' | 'warn' | 'agreed' | 'failed'>;
  /** Need not be unique. */
  name: string;
  /** Address for other members: `http://host:port`. */
  url: string;
  /** Version of the program. */
  program: string;
  agreed: Agreed;
  /** Called before this process writes to the database. @throws DatabaseRefused if it should not */
  check(database: Pick<Database, 'isEmpty'>): Promise<void>;
  /** Opens the copy and starts the service on it. */
  open(held: Held): Promise<Served>;
  clock: Required<Clock>;
  log: ServiceLog;
  metrics: MemberMetrics;
  /** Receives the actor for the inspection of live statecharts. The returned function is called when it ends. */
  actors: { began(actor: AnyActorRef): () => void };
};

export type Member = {
  /**
   * Connects, checks the database and joins. While the database is down it is retried.
   *
   * @throws DatabaseRefused with a message of one line that has no secret
   */
  start(): Promise<void>;
  state(): MemberState;
  /** The id of the cluster; undefined before the database has been opened. */
  cluster(): string | undefined;
  /** The present membership. */
  self(): { id: string; name: string } | undefined;
  /** The member that receives all requests; undefined when none is known, or when it is this one. */
  active(): Peer | undefined;
  /** All members, from the last read of the database. */
  view(): ClusterView;
  /** Milliseconds until the lease of the active member is over; the whole lease when there is none. */
  leaseMs(): number;
  /** Stores how the last request to a member ended, for `reachable`. */
  reached(id: string, ok: boolean): void;
  /** Resolves when the member is active for the first time, or a standby that knows an active one. */
  whenStanding(): Promise<void>;
  /** Requests that a member drains, which may be this one. Returns false when there is no such member. */
  drain(id: string): Promise<boolean>;
  /** Drains this member. Resolves when nothing of it is left: neither a connection nor a timer. */
  leave(): Promise<void>;
  readonly ended: Promise<MemberEnd>;
};

export type MemberEnd = { state: 'gone' | 'refused'; reason: string };

/** The answer of `GET /v1/system/members` of a cluster. */
export type ClusterView = {
  mode: 'postgres';
  /** `status`: of the last read. */
  database: {
    status: 'ok' | 'error';
    version: string;
    schema: string;
    pooled: boolean;
    /** Duration of a lease. */
    lease_ttl_ms: number;
  };
  leader: string | null;
  /** In the order in which they have joined. */
  members: readonly MemberView[];
};

export type MemberView = {
  id: string;
  name: string;
  url: string;
  /** The database has only whether another member is active, loading, standby, draining or gone. */
  state: MemberState;
  /** Why a membership has ended. */
  reason?: string;
  self: boolean;
  /** How the last request to it ended; null without one. */
  reachable: boolean | null;
  /** Version of its program. */
  version: string;
  joined_at: number;
  /** Milliseconds that are left of its lease, as this member has seen it. */
  lease_ms: number;
  lineages: number;
  executing: number;
  waiting: number;
  commons_behind: number;
  copy_bytes: number;
};

/** Why a membership has ended without being asked to. */
export type FencedWhy = 'silent' | 'behind' | 'copy' | 'asked';

/** The metrics of a member. Durations are in seconds. */
export type MemberMetrics = {
  /** Reads values until the returned function is called. */
  read(readings: MemberReadings): () => void;
  committed(result: 'applied' | 'refused', seconds: number, rows: number): void;
  unknownSettled(settled: 'applied' | 'open' | 'fenced'): void;
  fenced(why: FencedWhy): void;
  /** `seconds`: from the last beat of the member before until requests can be served. */
  tookOver(seconds: number): void;
  /** `errorClass`: the class of the SQLSTATE; `lost` without an answer of the server. */
  databaseError(errorClass: string): void;
};

export type MemberReadings = {
  state(): MemberState;
  /** Numbers of members by their state in the list. */
  members(): ReadonlyMap<string, number>;
  leaseRemainingSeconds(): number;
  copyBytes(): number;
  /** The longest pause of the event loop in the last minute. */
  loopPauseSeconds(): number;
  /** Open connections by their use. */
  connections(): ReadonlyMap<string, number>;
};
