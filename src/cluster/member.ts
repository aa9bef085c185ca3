import { createActor, fromPromise } from 'xstate';
import { type EntryResult, memberMachine, memberStateOf } from '../../machines/member.ts';
import { DatabaseRefused } from '../postgres/index.ts';
import { measureLoopPauses } from './loop-pauses.ts';
import { join, open } from './member-entry.ts';
import { defer, type MemberParts, presentState } from './member-parts.ts';
import type { Member, MemberOptions, MemberState } from './member-types.ts';
import { drain, leaveRow, load, release } from './member-work.ts';
import { createOutlook } from './outlook.ts';
import { createReports } from './reports.ts';

/**
 * The membership of this process in a cluster: binds `machines/member.ts` to the database and to the service.
 *
 * Guarantees: a service is opened only behind a claim of the work, and is suspended before its lease is over; the sink of
 * a membership that has ended is closed before its service is abandoned. When `leave` resolves nothing is left: neither
 * a connection nor a timer. `state` never answers with a lease that has passed.
 * Relies on the fence of the database for what is committed: leases decide only who is asked.
 */
export const createMember = (options: MemberOptions): Member => {
  const parts = createParts(options);
  const { outlook, actor } = parts;
  let isStarted = false;
  return {
    start() {
      isStarted = true;
      if (options.agreed.secrets_check === undefined) options.log.warn('cluster.secrets_not_encrypted');
      const endInspection = options.actors.began(actor);
      void parts.ended.promise.then(endInspection);
      actor.start();
      return parts.joined.promise;
    },
    state: () => presentState(parts),
    cluster: () => parts.database?.clusterId,
    self: () => (parts.life ? { id: parts.life.membership.id, name: options.name } : undefined),
    active: () => (presentState(parts) === 'standby' ? outlook.owner() : undefined),
    view: () => outlook.view(parts.life, presentState(parts)),
    leaseMs: () => outlook.leaseMs(parts.life),
    reached: outlook.reached,
    whenStanding: () => parts.standing.promise,
    async drain(id) {
      if (parts.life?.membership.id !== id) return (await parts.database?.drain(id)) ?? false;
      actor.send({ type: 'DRAIN' });
      return true;
    },
    async leave() {
      if (!isStarted) await end(parts, 'gone');
      else if (actor.getSnapshot().status === 'active') actor.send({ type: 'DRAIN' });
      await parts.ended.promise;
    },
    ended: parts.ended.promise,
  };
};

const createParts = (options: MemberOptions): MemberParts => {
  const outlook = createOutlook(options);
  const pauses = measureLoopPauses(options.clock.monotonic);
  const parts: MemberParts = {
    options,
    actor: createBoundActor(() => parts),
    outlook,
    reports: createReports(options, pauses),
    joined: defer(),
    standing: defer(),
    ended: defer(),
    database: undefined,
    life: undefined,
    opening: undefined,
    served: undefined,
    underWay: Promise.resolve(),
    refusal: undefined,
    why: 'silent',
    isEnded: false,
    stopLoading: () => {},
    stopReports: () => {},
  };
  const stopReading = options.metrics.read({
    state: () => presentState(parts),
    members: () => outlook.counts(parts.life, presentState(parts)),
    leaseRemainingSeconds: () => (parts.life?.lease.remainingMs() ?? 0) / 1000,
    copyBytes: () => parts.served?.figures().copyBytes ?? 0,
    loopPauseSeconds: () => pauses.longestMs() / 1000,
    connections: () => parts.database?.connections() ?? new Map(),
  });
  parts.stopReports = () => {
    stopReading();
    pauses.stop();
  };
  let before: MemberState = 'opening';
  parts.actor.subscribe((snapshot) => {
    const now = memberStateOf(snapshot);
    if (now === before) return;
    changed(parts, before, now);
    before = now;
  });
  return parts;
};

const createBoundActor = (partsOf: () => MemberParts) => {
  const service = (act: (parts: MemberParts) => Promise<void>) => fromPromise<void>(() => act(partsOf()));
  const entry = (act: (parts: MemberParts) => Promise<EntryResult>) =>
    fromPromise<EntryResult>(() => {
      const parts = partsOf();
      const done = act(parts);
      // The end waits for it, also behind a transition: it may have opened a connection, or written a row.
      parts.underWay = done.catch(() => {});
      return done;
    });
  const machine = memberMachine.provide({
    actors: {
      open: entry(open),
      join: entry(join),
      load: service(load),
      drain: service(drain),
      release: service(release),
    },
    actions: {
      suspend: () => partsOf().served?.suspend(),
      resume: () => partsOf().served?.resume(),
    },
  });
  return createActor(machine);
};

const changed = (parts: MemberParts, before: MemberState, now: MemberState): void => {
  const { life, reports } = parts;
  reports.changed(before, now, life?.membership);
  if (now === 'standby') parts.joined.resolve();
  if (now === 'active') parts.standing.resolve();
  if (now === 'gone' || now === 'refused') void end(parts, now);
};

const end = async (parts: MemberParts, last: 'gone' | 'refused'): Promise<void> => {
  await parts.underWay;
  const { life, database, refusal } = parts;
  parts.life = undefined;
  if (life) await leaveRow(life, 'left');
  life?.close();
  database?.close();
  parts.database = undefined;
  parts.stopReports();
  const error = refusal ?? new DatabaseRefused('the member has left before it has joined');
  parts.joined.reject(error);
  parts.standing.reject(error);
  parts.ended.resolve({ state: last, reason: refusal?.message ?? 'left' });
};
