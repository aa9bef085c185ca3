import type { RowContent, Sink } from '../store/engine/sink.ts';
import type { Agreed } from './agreement.ts';
import { createConnector } from './connection.ts';
import { readDatabaseUrl } from './connection-options.ts';
import { createLane, createLanes } from './lane.ts';
import { loadRows } from './load.ts';
import {
  claimLineages,
  drainRow,
  fenceRow,
  forgetMembers,
  joinRow,
  leaveRow,
  type Rows,
  readMembers,
  renewRow,
} from './member-rows.ts';
import type { Claimed, FenceRequest, MemberLoad, MembersView, MemberToJoin } from './members.ts';
import { type ConnectionUse, observeConnectors } from './observed.ts';
import { type PrepareOptions, prepare } from './prepare.ts';
import { refusalBy } from './refusals.ts';
import { type CommitNotice, createSink } from './sink.ts';
import { isEmpty } from './snapshot.ts';
import { createStatements } from './statements.ts';

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
  /** Settings that are refused when they differ from those of the other members; unset = not checked. */
  agreed?: Agreed;
  /** The time that is stored in rows; nothing is decided by it. */
  now(): number;
  /** Returns an id that no member, and no cluster, has had. */
  newId(): string;
  /** Receives why the connection is not safe, without secrets. */
  warn(message: string): void;
  /** Receives each commit that got no answer, and later how it has ended. */
  observe(notice: CommitNotice): void;
  /** Receives the class of each error of the database, see `observed.ts`. */
  failed?(errorClass: string): void;
};

export type Database = {
  /** The version of the server, such as `15.18`. */
  readonly serverVersion: string;
  readonly clusterId: string;
  /** Writes a member row with a new id, and chain row 0. @throws SlotsTaken */
  join(member: MemberToJoin): Promise<Membership>;
  /** Returns all members, the owner of the commons and their number, in one snapshot. */
  members(): Promise<MembersView>;
  /** Ends the membership of another, unless its beat has changed. Returns whether this call has ended it. */
  fence(request: FenceRequest): Promise<boolean>;
  /** Makes a live member drain, which it reads. Returns whether there is one. */
  drain(id: string): Promise<boolean>;
  /** All rows, in one snapshot that begins with the first page. The signal ends it, and its connection, at once. */
  rows(signal: AbortSignal): AsyncIterable<readonly RowContent[]>;
  /** The number of open connections by their use. */
  connections(): ReadonlyMap<ConnectionUse, number>;
  /** Whether the schema has no rows. */
  isEmpty(): Promise<boolean>;
  /** Ends all connections. A commit without a known outcome resolves as `abandoned`. */
  close(): void;
};

/** A member row of this process, and what may be done until it ends. */
export type Membership = {
  readonly id: string;
  readonly slot: number;
  /** Adds 1 to the beat. Returns false when the member is fenced, which is final. */
  renew(load: MemberLoad): Promise<boolean>;
  /** Ends the membership; nothing is committed afterwards. */
  leave(reason: string): Promise<void>;
  /** Takes those lineages that no live member owns, and returns the owner of each. @throws ServerError `TR001` when fenced */
  claim(lineages: readonly bigint[]): Promise<readonly Claimed[]>;
  /** Commits groups under the fence, numbered by the chain of this member. */
  readonly sink: Sink;
  /** The last number of its chain that is known to be taken. */
  readonly committed: number;
  /** Ends its connections without a write: the row stays as it is. */
  close(): void;
};

/** How long the start waits for one answer. */
const PREPARE_TIMEOUT_MS = 30_000;
/** A connection that has not answered for so long is not waited for. */
const LONGEST_TIMEOUT_MS = 5000;

/**
 * Connects, checks the server and the schema, and creates or migrates it.
 *
 * @throws DatabaseRefused with a message of one line that has no secret
 */
export const openDatabase = async (options: DatabaseOptions): Promise<Database> => {
  const { schema, pooled, leaseTtlMs, durability, poolSize, newId } = options;
  const connection = readDatabaseUrl(options.url);
  if (connection.warning !== undefined) options.warn(connection.warning);
  const connectors = observeConnectors(createConnector(connection), options.failed ?? (() => {}));
  const statements = createStatements(options);
  const timeoutMs = Math.min(leaseTtlMs / 2, LONGEST_TIMEOUT_MS);
  const toPrepare: PrepareOptions = {
    schema,
    pooled,
    leaseTtlMs,
    durability,
    newClusterId: newId(),
    timeoutMs: PREPARE_TIMEOUT_MS,
    agreed: options.agreed,
  };
  const cluster = await prepare(connectors.of('start'), toPrepare).catch((error: unknown) => {
    throw refusalBy(error, connection);
  });
  const shared: Rows = { lane: createLanes(connectors.of('pool'), poolSize), statements, timeoutMs };
  const memberships = new Set<Membership>();

  const join = async (member: MemberToJoin): Promise<Membership> => {
    await forgetMembers(shared, { at: options.now(), leaseTtlMs });
    const lease: Rows = { lane: createLane(connectors.of('lease')), statements, timeoutMs };
    const id = newId();
    const slot = await joinRow(lease, { id, now: options.now(), member }).catch((error: unknown) => {
      lease.lane.close();
      throw error;
    });
    const { observe } = options;
    const commits = createLane(connectors.of('commit'));
    const sink = createSink({ member: id, lane: commits, statements, timeoutMs, observe });
    const membership: Membership = {
      id,
      slot,
      renew: (load) => renewRow(lease, id, load),
      leave: (reason) => leaveRow(lease, id, reason),
      claim: (lineages) => claimLineages(shared, id, lineages),
      sink,
      get committed() {
        return sink.committed;
      },
      close() {
        memberships.delete(membership);
        sink.close();
        lease.lane.close();
      },
    };
    memberships.add(membership);
    return membership;
  };

  return {
    serverVersion: cluster.serverVersion,
    clusterId: cluster.id,
    join,
    members: () => readMembers(shared),
    fence: (request) => fenceRow(shared, request),
    drain: (id) => drainRow(shared, id),
    rows: (signal) =>
      loadRows({ connector: connectors.of('load'), schema, timeoutMs: LONGEST_TIMEOUT_MS, signal }),
    connections: connectors.open,
    isEmpty: () => isEmpty(shared.lane, schema, timeoutMs),
    close() {
      for (const membership of memberships) membership.close();
      shared.lane.close();
    },
  };
};
