import type { Member as ClusterMember, ClusterView, MemberState } from '../cluster/member-types.ts';
import type { Members } from '../schema/members.ts';
import type { ClusterHealth, Membership } from '../schema/membership.ts';

/**
 * The membership of this process as routes show it (cluster.md 1.3).
 *
 * @param memberNow undefined before the process has joined
 */
export const membershipOf = (name: string, memberNow: () => ClusterMember | undefined): Membership => {
  const state = (): MemberState => memberNow()?.state() ?? 'opening';
  return {
    name,
    self: () => memberNow()?.self() ?? null,
    health: () => ({
      database: memberNow()?.view().database.status ?? 'error',
      member: STATUSES[state()],
    }),
    canServe(role) {
      const status = STATUSES[state()];
      if (status === 'active') return true;
      return status === 'standby' && role !== 'active' && memberNow()?.active() !== undefined;
    },
    members: () => membersOf(memberNow()?.view()),
    drain: async (id) => (await memberNow()?.drain(id)) ?? false,
  };
};

const STATUSES: Readonly<Record<MemberState, Exclude<ClusterHealth['member'], 'none'>>> = {
  opening: 'starting',
  joining: 'starting',
  loading: 'starting',
  fenced: 'starting',
  standby: 'standby',
  active: 'active',
  doubtful: 'active',
  isolated: 'isolated',
  draining: 'draining',
  gone: 'draining',
  refused: 'draining',
};

const membersOf = (view: ClusterView | undefined): Members => ({
  mode: 'postgres',
  database: view?.database ?? null,
  leader: view?.leader ?? null,
  members: (view?.members ?? []).map(({ state, reason, ...member }) => ({
    ...member,
    state: state === 'gone' ? 'gone' : STATUSES[state],
    reason: reason ?? null,
  })),
});
