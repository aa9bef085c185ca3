import type { MembersView } from '../postgres/index.ts';
import type { Life } from './life.ts';
import type { ClusterView, MemberOptions, MemberState, Peer } from './member-types.ts';
import { viewCluster } from './view.ts';

/** A member that owned the work before. `seenAt`: when its last beat was first seen, by the monotonic clock. */
export type PreviousOwner = { id: string; name: string; seenAt: number | undefined };

/** The other members and the database, as this one has last read them. */
export type Outlook = {
  /** Undefined: the database did not answer. */
  read(view: MembersView | undefined): void;
  /** The owner is not known until the next read: it may have been this process itself. */
  joined(): void;
  /** Stores properties of the database that was opened. */
  opened(database: { serverVersion: string }): void;
  reached(id: string, ok: boolean): void;
  /** The live member that owns the work. */
  owner(): Peer | undefined;
  hasOthers(id: string): boolean;
  previousOwner(id: string | null, life: Life | undefined): PreviousOwner | undefined;
  leaseMs(life: Life | undefined): number;
  view(life: Life | undefined, state: MemberState): ClusterView;
  /** Numbers of members by their states. */
  counts(life: Life | undefined, state: MemberState): ReadonlyMap<string, number>;
};

const NO_MEMBERS: MembersView = { members: [], commons: 0, leader: null };

export const createOutlook = ({ database, clock }: MemberOptions): Outlook => {
  let members = NO_MEMBERS;
  let status: ClusterView['database']['status'] = 'error';
  let version = '';
  let isCurrent = false;
  const reachedBy = new Map<string, boolean>();
  /** By the id of a member that has ended since it was read as live. */
  const endedAt = new Map<string, number>();

  const noteEnded = (view: MembersView): void => {
    const lived = new Set(members.members.filter(({ state }) => state !== 'gone').map(({ id }) => id));
    for (const { id, state } of view.members)
      if (state === 'gone' && lived.has(id)) endedAt.set(id, clock.monotonic());
  };

  const view = (life: Life | undefined, state: MemberState): ClusterView =>
    viewCluster({
      database: { status, version, ...aboutOf(database) },
      members,
      self: life && { id: life.membership.id, state },
      beats: life?.beats,
      reached: reachedBy,
      endedAt,
      now: clock.monotonic(),
    });

  const ownerRow = () =>
    isCurrent
      ? members.members.find(({ id, state }) => id === members.leader && state !== 'gone')
      : undefined;

  return {
    read(read) {
      status = read ? 'ok' : 'error';
      if (!read) return;
      noteEnded(read);
      members = read;
      isCurrent = true;
      const known = new Set(read.members.map(({ id }) => id));
      keepKnown(endedAt, known);
      keepKnown(reachedBy, known);
    },
    joined() {
      isCurrent = false;
    },
    opened({ serverVersion }) {
      version = serverVersion;
      status = 'ok';
    },
    reached: (id, ok) => void reachedBy.set(id, ok),
    owner() {
      const row = ownerRow();
      return row && { id: row.id, name: row.name, url: row.url };
    },
    hasOthers: (id) => members.members.some((row) => row.id !== id && row.state === 'live'),
    previousOwner(id, life) {
      const row = members.members.find((each) => each.id === id);
      return row && { id: row.id, name: row.name, seenAt: life?.beats.seenAt(row.id) };
    },
    leaseMs(life) {
      const row = ownerRow();
      if (!row || !life) return database.leaseTtlMs;
      return life.beats.remainingMs(row.id, clock.monotonic());
    },
    view,
    counts(life, state) {
      const counts = new Map<string, number>();
      for (const each of view(life, state).members) counts.set(each.state, (counts.get(each.state) ?? 0) + 1);
      return counts;
    },
  };
};

const aboutOf = ({ schema, pooled, leaseTtlMs }: MemberOptions['database']) => ({
  schema,
  pooled,
  lease_ttl_ms: leaseTtlMs,
});

const keepKnown = (byId: Map<string, unknown>, known: ReadonlySet<string>): void => {
  for (const id of byId.keys()) if (!known.has(id)) byId.delete(id);
};
