/** A member as it is announced at a join. */
export type MemberToJoin = { name: string; url: string; program: string; state?: 'live' | 'draining' };

/** What a member reports with each renewal. */
export type MemberLoad = {
  /** The number of the commons that its copy has. */
  commons: number;
  /** Figures for the list of members. */
  load: Readonly<Record<string, number>>;
};

export type MemberRow = {
  id: string;
  name: string;
  url: string;
  slot: number;
  state: 'live' | 'draining' | 'gone';
  /** Why it is gone: `left`, or `fenced by <name>`. */
  reason: string | null;
  program: string;
  joinedAt: number;
  beat: number;
  commons: number;
  load: Readonly<Record<string, number>> | null;
};

export type MembersView = {
  members: readonly MemberRow[];
  /** The number of the commons. */
  commons: number;
  /** The owner of lineage 0. */
  leader: string | null;
};

export type Claimed = { lineage: bigint; owner: string };

/** `beat` was seen unchanged for a whole lease; `reason` is stored with the row. */
export type FenceRequest = { member: string; beat: number; reason: string };
