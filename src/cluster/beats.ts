import type { MemberRow } from '../postgres/index.ts';

/**
 * The beats of all members, as one observer has seen them (cluster.md 5.4). Neither the clock of the database nor that of
 * another host counts: only how long, by the monotonic clock of this process, one beat was seen unchanged.
 */
export type Beats = {
  /** `sentAt`, `answeredAt`: of the statement that has read the members. */
  note(members: readonly MemberRow[], sentAt: number, answeredAt: number): void;
  /** The members that were silent for a whole TTL, in which this observer was sound. */
  silent(soundSince: number | undefined): readonly MemberRow[];
  /** When the present beat of a member was first seen. */
  seenAt(id: string): number | undefined;
  /** Milliseconds that are left of the lease of a member; 0 for one that is not known. */
  remainingMs(id: string, now: number): number;
};

type Seen = { row: MemberRow; since: number };

export const createBeats = (ttlMs: number): Beats => {
  let seen = new Map<string, Seen>();
  let lastSentAt = Number.NEGATIVE_INFINITY;
  return {
    note(members, sentAt, answeredAt) {
      lastSentAt = sentAt;
      const next = new Map<string, Seen>();
      for (const row of members) {
        const before = seen.get(row.id);
        const since = before?.row.beat === row.beat ? before.since : answeredAt;
        next.set(row.id, { row, since });
      }
      seen = next;
    },
    silent(soundSince) {
      if (soundSince === undefined || lastSentAt - soundSince <= ttlMs) return [];
      return [...seen.values()]
        .filter(({ row, since }) => row.state !== 'gone' && lastSentAt - since > ttlMs)
        .map(({ row }) => row);
    },
    seenAt: (id) => seen.get(id)?.since,
    remainingMs(id, now) {
      const since = seen.get(id)?.since;
      return since === undefined ? 0 : Math.max(0, since + ttlMs - now);
    },
  };
};
