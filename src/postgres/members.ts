/** A member as it is announced at a join. */
export type MemberToJoin = { name: string; url: string; program: string; state?: 'live' | 'draining' };

/** Report of a member with each renewal. */
export type MemberLoad = {
  /** The number of the commons that its copy has. */
  commons: number;
  /** Figures for the list of members. */
  load: Readonly<Record<string, number>>;
};

/** `gone` is final: such a row never changes. */
export type MemberRow = {
  id: string;
  name: string;
  url: string;
  slot: number;
  state: 'live' | 'draining' | 'gone';
  /** Why the membership has ended: `left`, or `fenced by <name>`. */
  reason: string | null;
  program: string;
  joinedAt: number;
  beat: number;
  commons: number;
  load: Readonly<Record<string, number>> | null;
};

export type MembersView = {
  /** In the order in which they have joined. */
  members: readonly MemberRow[];
  /** The number of the commons. */
  commons: number;
  /** The owner of lineage 0. */
  leader: string | null;
};

export type Claimed = { lineage: bigint; owner: string };

/** `beat` was seen unchanged for a whole lease; `reason` is stored with the row. */
export type FenceRequest = { member: string; beat: number; reason: string };
