import type { Sink } from '../store/engine/sink.ts';
import type { Claimed, FenceRequest, MemberLoad, MemberToJoin, MembersView } from './member-rows.ts';

export type DatabaseOptions = {
  /** `postgresql://user:password@host:port/database?sslmode=…`, a secret. */
  url: string;
  /** The schema that has the tables of the cluster: lower-case letters, digits and `_`. */
  schema: string;
  /** Whether a pooler in transaction mode is in between: statements stay unnamed. */
  pooled: boolean;
  /** Connections in addition to the one for commits and the one for the lease. */
  poolSize: number;
  /** How long a silent member keeps what it owns. The first member stores it; another value is refused. */
  leaseTtlMs: number;
  /** `power`: the setting of the server; `process`: without the wait for a standby server. */
  durability: 'process' | 'power';
  /** The time that is stored in rows; nothing is decided by it. */
  now(): number;
  /** Returns an id that no member has had. */
  newMemberId(): string;
  /** Receives, once, why the connection is not safe, without secrets. */
  warn?(message: string): void;
};

export type Database = {
  /** The version of the server, such as `15.18`. */
  readonly serverVersion: string;
  readonly clusterId: string;
  /** Writes a member row with a new id, and chain row 0. @throws DatabaseRefused when no slot is free */
  join(member: MemberToJoin): Promise<Membership>;
  /** Returns all members, the owner of the commons and their number, in one snapshot. */
  members(): Promise<MembersView>;
  /** Ends the membership of another, unless its beat has changed. Returns whether this call has ended it. */
  fence(request: FenceRequest): Promise<boolean>;
  /** Frees lineages of members that are gone, so many at once. Returns their number. */
  free(limit: number): Promise<number>;
  /** Ends all connections. A commit without a known outcome resolves as `abandoned`. */
  close(): Promise<void>;
};

/** A member row of this process, and what may be done as long as it is not gone. */
export type Membership = {
  readonly id: string;
  readonly slot: number;
  /** Adds 1 to the beat. Returns false when the member is fenced, which is final. */
  renew(load: MemberLoad): Promise<boolean>;
  /** Ends the membership; nothing is committed afterwards. */
  leave(reason: string): Promise<void>;
  /** Takes those lineages that no live member owns, and returns the owner of each. @throws DatabaseError `TR001` */
  claim(lineages: readonly bigint[]): Promise<readonly Claimed[]>;
  /** Commits groups under the fence, numbered by the chain of this member. */
  readonly sink: Sink;
  /** The number of the last commit that was applied, or 0. */
  readonly committed: number;
  /** Ends the connections of this membership without a write: its row stays as it is. */
  close(): Promise<void>;
};

/**
 * Connects, checks the server and the schema, and creates or migrates it.
 *
 * @throws DatabaseRefused with a message of one line that has no secret
 */
export const openDatabase = (_options: DatabaseOptions): Promise<Database> =>
  Promise.reject(new Error('openDatabase is not there yet'));
