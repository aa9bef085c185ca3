import type { CommitNotice, Membership, MembersView } from '../postgres/index.ts';
import type { LoopPauses } from './loop-pauses.ts';
import type { FencedWhy, MemberOptions, MemberState } from './member-types.ts';
import type { PreviousOwner } from './outlook.ts';

/** Log lines and metrics of a member. */
export type Reports = {
  settled(notice: Extract<CommitNotice, { type: 'settled' }>): void;
  /** Warns once if a live member has the same name. */
  read(view: MembersView, self: string | undefined): void;
  fencedOther(name: string): void;
  claimed(previous: PreviousOwner | undefined): void;
  /** The database does not have the commit before this number. */
  behind(number: number): void;
  changed(before: MemberState, now: MemberState, membership: Membership | undefined): void;
  fenced(why: FencedWhy): void;
};

const REPEATED = 3;
const REPEATED_WITHIN_MS = 600_000;

export const createReports = (options: MemberOptions, pauses: LoopPauses): Reports => {
  const { log, metrics, name, clock } = options;
  let isWarned = false;
  /** By the id of a member of the same name: the first beat that was read. */
  const firstBeats = new Map<string, number>();
  let previous: PreviousOwner | undefined;
  const ownIds = new Set<string>();
  let fences: number[] = [];

  const fields = { member: name };
  const lines: Partial<Record<MemberState, (before: MemberState) => void>> = {
    active: (before) => log.info(before === 'loading' ? 'cluster.active' : 'cluster.sound', fields),
    doubtful: () => log.warn('cluster.doubtful', fields),
    isolated: () => log.warn('cluster.isolated', fields),
    draining: () => log.info('cluster.draining', fields),
    gone: () => log.info('cluster.left', fields),
  };

  const tookOver = (): void => {
    if (!previous || ownIds.has(previous.id)) return;
    const seconds = previous.seenAt === undefined ? 0 : (clock.monotonic() - previous.seenAt) / 1000;
    metrics.tookOver(seconds);
    log.info('cluster.took_over', { from: previous.name, seconds });
  };

  return {
    settled: ({ outcome, wasOpen }) => metrics.unknownSettled(settledAs(outcome, wasOpen)),
    read({ members }, self) {
      if (isWarned) return;
      const others = members.filter((row) => row.name === name && row.state === 'live' && row.id !== self);
      for (const { id, beat } of others) {
        const first = firstBeats.get(id) ?? beat;
        firstBeats.set(id, first);
        // The row of an earlier process that was killed has no other beat.
        isWarned ||= beat !== first;
      }
      if (isWarned) log.warn('cluster.name_taken', { member: name });
    },
    fencedOther: (other) => log.warn('cluster.member_fenced', { member: other }),
    claimed(owner) {
      previous = owner;
    },
    behind: (number) => log.error('cluster.behind', { commit: number }),
    changed(before, now, membership) {
      if (now === 'standby' && membership) {
        ownIds.add(membership.id);
        log.info('cluster.joined', { member: name, id: membership.id, slot: membership.slot });
      }
      if (now === 'active' && before === 'loading') tookOver();
      lines[now]?.(before);
    },
    fenced(why) {
      metrics.fenced(why);
      log.error('cluster.fenced', { member: name, why });
      const now = clock.monotonic();
      fences = [...fences.filter((at) => now - at < REPEATED_WITHIN_MS), now];
      if (fences.length < REPEATED) return;
      const longest_pause_ms = Math.round(pauses.longestMs());
      log.error('cluster.fenced_repeatedly', { member: name, times: fences.length, longest_pause_ms });
    },
  };
};

const settledAs = (
  outcome: Extract<CommitNotice, { type: 'settled' }>['outcome'],
  wasOpen: boolean,
): 'applied' | 'open' | 'fenced' => {
  if (outcome === 'fenced' || outcome === 'behind') return 'fenced';
  return outcome === 'applied' && !wasOpen ? 'applied' : 'open';
};
