import type { PoolSpec } from '../schema/model.ts';
import { ModelError } from './errors.ts';
import { createPoolSessions, type PoolSession } from './pool-sessions.ts';
import { byOrder, byRendezvous, createRotation, type HomeRouting, type Member } from './routing.ts';

/**
 * Which member of a pool is asked next: where a session is at home, when it leaves its member, and for which
 * other one. Calls no model and knows no time; whether a member's breaker admits a call is asked of the caller.
 */

/** One inference on its way through the members. */
export type Visit = {
  /** The member to ask now. */
  index(): number;
  /** Whether this failure is a reason to ask another member. */
  leaves(error: ModelError): boolean;
  /** Whether another member would take the call. */
  mayLeave(): boolean;
  /** @throws ModelError when there is no member left, or the session has switched too often */
  switch(because: ModelError): void;
  succeeded(): void;
};

export type Membership = {
  isQuarantined(index: number): boolean;
  /** The member has no capacity for us, and waiting for it is not worth it. */
  isQuota(error: ModelError): boolean;
  /** The error of a call that no member takes while circuits are open. */
  whileOpen(): ModelError;
  visit(session: { thread_id: string; run_id: string } | undefined): Visit;
};

/** What is known of each member, by its index. */
export type MemberHealth = {
  /** Its circuit is closed, or a probe is due. */
  admits: Eligible;
  /** A call would not wait for others to end. */
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
  const isOpen = (index: number): boolean => !quarantined.has(index) && !admits(index);
  const whileOpen = (cause?: ModelError): ModelError => {
    const waits = members.flatMap((_, index) => (isOpen(index) ? [opensInMs(index)] : []));
    return new ModelError('unavailable', '', {
      heldBack: true,
      retryAfterSeconds: Math.min(...waits, LONGEST_WAIT_MS) / 1000,
      cause,
    });
  };
  const homeOf = createHomes(routing, members, { quarantined, isUsable });
  const pick = (key: string, eligible: Eligible): number | undefined =>
    routing === 'first_healthy' ? byOrder(members, eligible) : byRendezvous(key, members, eligible);

  /** A member whose circuit is open may take the call later, whatever the other members have answered. */
  const nothingLeft = (because: ModelError): ModelError =>
    because.heldBack || (!because.transient && members.some((_, index) => isOpen(index)))
      ? whileOpen(because)
      : new ModelError('unavailable', '', {
          final: !because.transient,
          ...(because.retryAfterSeconds !== undefined && { retryAfterSeconds: because.retryAfterSeconds }),
          cause: because,
        });

  const sessionOf = (key: string): PoolSession => {
    const known = sessions.get(key);
    if (known && !quarantined.has(known.member)) return known;
    const session = { member: homeOf(key), switches: known?.switches ?? 0 };
    // A hash finds the way home again; the other routings would lead elsewhere next time.
    if (routing !== 'deterministic') sessions.set(key, session);
    return session;
  };

  return {
    isQuarantined: (index) => quarantined.has(index),
    isQuota,
    whileOpen: () => whileOpen(),
    visit(from) {
      const key = (sticky_scope === 'thread' ? from?.thread_id : from?.run_id) ?? '';
      const session = sessionOf(key);
      const tried = new Set<number>();
      // Another inference of the session may move it meanwhile; this one goes its own way.
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
          if (next === undefined) throw nothingLeft(because);
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

/** There is always a home, even if nobody is there: whoever asks it finds out, and switches. */
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

const QUOTA: ReadonlySet<string> = new Set(['rate_limited', 'overloaded']);
/** The member is not asked now, or it failed in a way that may pass. */
const isOfHealth = ({ class: kind, transient }: ModelError): boolean => kind === 'unavailable' || transient;
const PERMANENT: ReadonlySet<string> = new Set(['unauthorized', 'model_not_found']);

/**
 * Which failures lead to another member. A failure that may pass and is no matter of quota has been retried on
 * the member before; it then counts as one of the member's health, like an open breaker.
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
