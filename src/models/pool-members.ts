import type { PoolSpec } from '../schema/model.ts';
import { ModelError } from './errors.ts';
import { createPoolSessions, type PoolSession } from './pool-sessions.ts';
import { byOrder, byRendezvous, createRotation, type HomeRouting, type Member } from './routing.ts';

/**
 * Selects the member of a pool for each call: the home of a session, the reasons to leave a member, and the next one.
 * This module calls no model and uses no clock; the caller provides the state of the breakers.
 */

/** The state of one inference that may try several members. */
export type Visit = {
  /** The member to call now. */
  index(): number;
  /** Whether this failure is a reason to call another member. */
  leaves(error: ModelError): boolean;
  /** Whether another member would accept the call. */
  mayLeave(): boolean;
  /** @throws ModelError when no member is left, or the session has switched too often */
  switch(because: ModelError): void;
  succeeded(): void;
};

export type Membership = {
  isQuarantined(index: number): boolean;
  /** Whether the member is out of quota, and waiting for it is not worthwhile. */
  isQuota(error: ModelError): boolean;
  /** The error of a call that no member accepts while circuits are open. */
  whileOpen(): ModelError;
  visit(session: { thread_id: string; run_id: string } | undefined): Visit;
};

/** The health of each member, by index. */
export type MemberHealth = {
  /** Whether its circuit is closed or a probe is due. */
  admits: Eligible;
  /** Whether a call would start without waiting for others to end. */
  hasRoom: Eligible;
  /** Milliseconds until its circuit admits a probe. */
  opensInMs(index: number): number;
};

export const createMembership = (
  { members, routing: { home: routing, sticky_scope }, switch: rules }: PoolSpec,
  { admits, hasRoom, opensInMs }: MemberHealth,
): Membership => {
  const { isQuota, leaves } = switchRules(rules);
  const most = rules.max_switches_per_session ?? Number.POSITIVE_INFINITY;
  const sessions = createPoolSessions();
  const quarantined = new Set<number>();
  const isUsable = (index: number): boolean => !quarantined.has(index) && admits(index) && hasRoom(index);
  const opens = (): number[] =>
    members.flatMap((_, index) => (quarantined.has(index) || admits(index) ? [] : [opensInMs(index)]));
  const homeOf = createHomes(routing, members, { quarantined, isUsable });
  const pick = (key: string, eligible: Eligible): number | undefined =>
    routing === 'first_healthy' ? byOrder(members, eligible) : byRendezvous(key, members, eligible);

  const sessionOf = (key: string): PoolSession => {
    const known = sessions.get(key);
    if (known && !quarantined.has(known.member)) return known;
    const session = { member: homeOf(key), switches: known?.switches ?? 0 };
    // A hash yields the same home again; the other routings would select a different one.
    if (routing !== 'deterministic') sessions.set(key, session);
    return session;
  };

  return {
    isQuarantined: (index) => quarantined.has(index),
    isQuota,
    whileOpen: () => whileOpen(opens()),
    visit(from) {
      const key = (sticky_scope === 'thread' ? from?.thread_id : from?.run_id) ?? '';
      const session = sessionOf(key);
      const tried = new Set<number>();
      // Another inference of the session may move it in the meantime; that does not affect this visit.
      let index = session.member;
      const nextOf = (): number | undefined =>
        pick(key, (each) => each !== index && isUsable(each) && !tried.has(each));
      return {
        index: () => index,
        leaves(error) {
          if (PERMANENT.has(error.class) && leaves(error)) quarantined.add(index);
          return quarantined.has(index) || leaves(error);
        },
        mayLeave: () => nextOf() !== undefined && session.switches < most,
        switch(because) {
          const next = nextOf();
          tried.add(index);
          if (next === undefined) throw nothingLeft(because, opens());
          if (session.switches >= most) throw new ModelError('attempts_exhausted', '', { cause: because });
          session.switches += 1;
          session.member = index = next;
          sessions.set(key, session);
        },
        succeeded() {
          if (session.switches === 0) return;
          session.switches = 0;
          if (routing === 'deterministic' && session.member === homeOf(key)) sessions.delete(key);
        },
      };
    },
  };
};

type Eligible = (index: number) => boolean;

type Health = { quarantined: ReadonlySet<number>; isUsable: Eligible };

/** Every session has a home, even if no member is available: the call then fails and switches. */
const createHomes = (
  routing: HomeRouting,
  members: readonly Member[],
  { quarantined, isUsable }: Health,
): ((key: string) => number) => {
  const isHome: Eligible = (index) => members[index]?.role === 'member';
  const isKept: Eligible = (index) => isHome(index) && !quarantined.has(index);
  const rotate = createRotation(members);
  const ways: Record<HomeRouting, (key: string) => number | undefined> = {
    deterministic: (key) => byRendezvous(key, members, isKept),
    round_robin: () => rotate(isKept),
    first_healthy: () => byOrder(members, (index) => isHome(index) && isUsable(index)),
  };
  return (key) => ways[routing](key) ?? byOrder(members, isKept) ?? byOrder(members, isHome) ?? 0;
};

/** The cooldown of a breaker. */
const LONGEST_WAIT_MS = 30_000;

/** `opens`: milliseconds until each open circuit admits a probe. */
const whileOpen = (opens: readonly number[], cause?: ModelError): ModelError =>
  new ModelError('unavailable', '', {
    heldBack: true,
    retryAfterSeconds: Math.min(...opens, LONGEST_WAIT_MS) / 1000,
    cause,
  });

/** A member whose circuit is open may accept the call later, regardless of the other members' responses. */
const nothingLeft = (because: ModelError, opens: readonly number[]): ModelError =>
  because.heldBack || (!because.transient && opens.length > 0)
    ? whileOpen(opens, because)
    : new ModelError('unavailable', '', {
        final: !because.transient,
        ...(because.retryAfterSeconds !== undefined && { retryAfterSeconds: because.retryAfterSeconds }),
        cause: because,
      });

const QUOTA: ReadonlySet<string> = new Set(['rate_limited', 'overloaded']);
/** Whether the member is unavailable or failed with a transient error. */
const isOfHealth = ({ class: kind, transient }: ModelError): boolean => kind === 'unavailable' || transient;
const PERMANENT: ReadonlySet<string> = new Set(['unauthorized', 'model_not_found']);

/**
 * The failures that lead to another member. Before a transient failure other than a quota counts, it has been retried
 * on the member; it then counts as a health failure, like an open breaker.
 */
const switchRules = ({
  on_circuit_open,
  on_quota,
  on_permanent,
  quota_retry_after_threshold_secs: threshold = 0,
}: PoolSpec['switch']) => {
  const isQuota = ({
    class: kind,
    transient,
    retryAfterSeconds: wait = Number.POSITIVE_INFINITY,
  }: ModelError): boolean => on_quota && QUOTA.has(kind) && (wait >= threshold || !transient);
  return {
    isQuota,
    leaves: (error: ModelError): boolean => {
      if (QUOTA.has(error.class)) return isQuota(error);
      return PERMANENT.has(error.class) ? on_permanent : on_circuit_open && isOfHealth(error);
    },
  };
};
