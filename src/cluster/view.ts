import type { MemberRow, MembersView } from '../postgres/index.ts';
import type { Beats } from './beats.ts';
import type { ClusterView, MemberState, MemberView } from './member-types.ts';

/** The list of members, as one of them has read it. */

export type ViewInput = {
  database: ClusterView['database'];
  /** The last read. */
  members: MembersView;
  self: { id: string; state: MemberState } | undefined;
  beats: Pick<Beats, 'remainingMs'> | undefined;
  /** By the id of the member: how the last request to it ended. */
  reached: ReadonlyMap<string, boolean>;
  /** By the id of an ended member: when this one has first read its end, by the monotonic clock. */
  endedAt: ReadonlyMap<string, number>;
  now: number;
};

/** Ended members stay in the list for so long. */
const SHOWN_MS = 3_600_000;

/** A figure of a load that says whether the service runs; loads have numbers only. */
export const SERVING = 'serving';

export const viewCluster = (input: ViewInput): ClusterView => {
  const { database, members } = input;
  const shown = members.members.filter((row) => row.state !== 'gone' || isShown(row, input));
  return {
    mode: 'postgres',
    database,
    leader: shown.some(({ id, state }) => id === members.leader && state !== 'gone') ? members.leader : null,
    members: shown.map((row) => viewMember(row, input)),
  };
};

const isShown = ({ id }: MemberRow, { endedAt, now }: ViewInput): boolean => {
  const at = endedAt.get(id);
  return at !== undefined && now - at < SHOWN_MS;
};

const viewMember = (row: MemberRow, input: ViewInput): MemberView => {
  const { members, self, beats, reached, now } = input;
  const load = row.load ?? {};
  return {
    id: row.id,
    name: row.name,
    url: row.url,
    state: self?.id === row.id && row.state !== 'gone' ? self.state : stateOf(row, members),
    ...(row.reason !== null && { reason: row.reason }),
    self: self?.id === row.id,
    reachable: reached.get(row.id) ?? null,
    version: row.program,
    joined_at: row.joinedAt,
    lease_ms: row.state === 'gone' ? 0 : Math.round(beats?.remainingMs(row.id, now) ?? 0),
    lineages: load.lineages ?? 0,
    executing: load.executing ?? 0,
    waiting: load.waiting ?? 0,
    // A standby has no copy, so it is not behind with one.
    commons_behind: row.id === members.leader ? Math.max(0, members.commons - row.commons) : 0,
    copy_bytes: load.copy_bytes ?? 0,
  };
};

const stateOf = ({ id, state, load }: MemberRow, { leader }: MembersView): MemberState => {
  if (state !== 'live') return state;
  if (id !== leader) return 'standby';
  return load?.[SERVING] === 1 ? 'active' : 'loading';
};
