import type { Statement } from './connection.ts';
import { ServerError, SlotsTaken } from './errors.ts';
import type { Lane } from './lane.ts';
import type { Claimed, FenceRequest, MemberLoad, MemberRow, MembersView, MemberToJoin } from './members.ts';
import type { Statements } from './statements.ts';

export type Rows = { lane: Lane; statements: Statements; timeoutMs: number };

/** Each member that joins at the same time may take a slot before this one. */
const MOST_JOINS = 32;
const SLOT = 'member_slot';

/** Returns the slot of the new row. @throws SlotsTaken */
export const joinRow = async (
  { lane, statements, timeoutMs }: Rows,
  { id, now, member }: { id: string; now: number; member: MemberToJoin },
): Promise<number> => {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const statement = statements.join(id, now, member);
      const [row] = await lane.query<{ slot: number | null }>(statement, timeoutMs);
      if (typeof row?.slot === 'number') return row.slot;
      throw new SlotsTaken('no slot is free: the cluster has 32 members');
    } catch (error) {
      const isLate = error instanceof ServerError && error.constraint === SLOT;
      if (!isLate || attempt === MOST_JOINS) throw error;
    }
  }
};

type Done = { done: boolean };

const isDone = async ({ lane, timeoutMs }: Rows, statement: Statement): Promise<boolean> => {
  const [row] = await lane.query<Done>(statement, timeoutMs);
  return row?.done === true;
};

export const renewRow = (rows: Rows, id: string, load: MemberLoad): Promise<boolean> =>
  isDone(rows, rows.statements.renew(id, load));

export const leaveRow = async (rows: Rows, id: string, reason: string): Promise<void> => {
  await rows.lane.query(rows.statements.leave(id, reason), rows.timeoutMs);
};

export const fenceRow = (rows: Rows, request: FenceRequest): Promise<boolean> =>
  isDone(rows, rows.statements.fence(request));

export const drainRow = (rows: Rows, id: string): Promise<boolean> => isDone(rows, rows.statements.drain(id));

const DAY_MS = 24 * 3_600_000;
/** No member is asked for the outcome of a commit for so long: its row and its chain can go. */
const FORGET_AFTER_MS = 7 * DAY_MS;
/** A process that ends again and again before it commits leaves a row each time, which all members read. */
const FORGET_IDLE_AFTER_MS = DAY_MS;

/** Removes what is left of members that ended long ago; a member without a row is as fenced as one that has ended. */
export const forgetMembers = async (
  { lane, statements, timeoutMs }: Rows,
  { at, leaseTtlMs }: { at: number; leaseTtlMs: number },
): Promise<void> => {
  const limits = {
    before: at - FORGET_AFTER_MS,
    idleBefore: at - FORGET_IDLE_AFTER_MS,
    beatMs: Math.floor(leaseTtlMs / 3),
  };
  await lane.query(statements.forget(limits), timeoutMs);
};

export const claimLineages = async (
  { lane, statements, timeoutMs }: Rows,
  id: string,
  lineages: readonly bigint[],
): Promise<readonly Claimed[]> => {
  const rows = await lane.query<{ id: string; owner: string }>(statements.claim(id, lineages), timeoutMs);
  return rows.map((row) => ({ lineage: BigInt(row.id), owner: row.owner }));
};

/** The driver returns `bigint` columns as texts. `id` is null in the one row of a cluster without members. */
type ViewRow = Omit<MemberRow, 'id' | 'joinedAt' | 'beat' | 'commons'> & {
  id: string | null;
  joined_at: string;
  beat: string;
  commons: string;
  commons_number: string | null;
  leader: string | null;
};

export const readMembers = async ({ lane, statements, timeoutMs }: Rows): Promise<MembersView> => {
  const rows = await lane.query<ViewRow>(statements.members(), timeoutMs);
  return {
    members: rows.flatMap((row) => (row.id === null ? [] : [memberOf(row, row.id)])),
    commons: Number(rows[0]?.commons_number ?? 0),
    leader: rows[0]?.leader ?? null,
  };
};

const memberOf = (row: ViewRow, id: string): MemberRow => ({
  id,
  name: row.name,
  url: row.url,
  slot: row.slot,
  state: row.state,
  reason: row.reason,
  program: row.program,
  joinedAt: Number(row.joined_at),
  beat: Number(row.beat),
  commons: Number(row.commons),
  load: row.load,
});
