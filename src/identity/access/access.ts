import type { CanonicalEvent } from '../../schema/canonical-event.ts';
import { soughtUserId } from '../../schema/identity-text.ts';
import { Conflict, Invalid } from '../../schema/outcome.ts';
import { baseOf, checkPartitionOf, ownedIn, ownerOf, partitionOf, sharedIn } from '../../schema/partition.ts';
import type { Lists, Place } from '../../schema/place.ts';
import { forbidden, may, mayAtAll, type Need, type Principal } from '../../schema/principal.ts';
import type { Reading } from '../../schema/reader.ts';
import type { Run } from '../../schema/run.ts';
import type { RunEvent } from '../../schema/run-event.ts';
import type { Visibility } from '../../schema/thread.ts';
import { idInUid, isMadeHere, longUidOf } from '../../schema/thread-uid.ts';
import type { Store } from '../../store/index.ts';
import {
  eventWithoutHiddenParent,
  type IsHidden,
  type NamesParents,
  runEventWithoutHiddenParent,
  runWithoutHiddenParent,
  withoutHiddenParent,
} from './hidden-parents.ts';

/**
 * The only way from the id in a request to a thread, a run or a task (identity.md 1.3 to 1.5).
 *
 * Guarantees: an id of something that the principal may not read leads to the place where its own thing of that name
 * would be, so that everything behind answers as for an id that was never used. Forbidden is thrown only for acts on
 * something that the principal may read.
 * Relies on partitions: nothing below finds a row without its partition, and only this module names those of other users.
 * Cost: one read when the principal owns it, or can see nothing of other users.
 *
 * @example
 * const { scope, id } = access.thread(principal, params.id, 'read');
 * const record = store.threads.get(scope, id);
 */
export type Access = {
  /**
   * Returns the place of a thread; for an unknown id, the place where a new thread of the principal would be.
   *
   * @throws Forbidden, Conflict when the id names several visible threads
   */
  thread(principal: Principal, id: string, right: Right): Place;
  /** Like `thread`, for the id of a run or a task. The rights are those on its thread. */
  run(principal: Principal, id: string, right: Right): Place;
  /**
   * Like `run`, for an id that may be that of a run, of one of its dispatches, or of a thread. `thread` is the thread whose
   * owner and visibility decide.
   */
  work(principal: Principal, id: string, right: Right): Place & { thread: Place };
  /** Returns the names of the lists that contain everything that the principal may read, and nothing else. */
  lists(principal: Principal): Lists;
  /** Returns whether the principal may read a thread. */
  sees(principal: Principal, place: Place): boolean;
  /** Returns a thread without the links to threads that the principal may not read. */
  shown<Shown extends ShownThread>(principal: Principal, thread: Shown): Shown;
  /** Like `shown`, for a run. */
  shownRun(principal: Principal, run: Run): Run;
  /** Returns the function that does the same for events of a thread; undefined if the principal may read all of them. */
  shownEvent(principal: Principal, place: Place): ((event: CanonicalEvent) => CanonicalEvent) | undefined;
  /** Like `shownEvent`, for the stream of a run of the thread. */
  shownRunEvent(principal: Principal, place: Place): ((event: RunEvent) => RunEvent) | undefined;
  /** Returns whether the principal has the right on a thread that it may read. */
  may(principal: Principal, place: Place, right: Right): boolean;
  /** @throws Forbidden without the right on a thread that the principal may read, or that is new */
  check(principal: Principal, place: Place, right: Right): void;
  /**
   * Returns what an event stream of a thread or a run reads, to be judged again while it lasts (identity.md 1.5).
   *
   * @param agent the agent that the request invokes
   */
  reading(kind: 'thread' | 'run', place: Place, right: Right, agent?: string): Reading;
  /** @throws Forbidden unless the principal may change who sees the thread */
  checkSharing(principal: Principal, place: Place): void;
  /**
   * Returns the partition of the threads of a user who becomes the owner of the thread.
   *
   * @throws Forbidden unless the principal may change who owns the thread; Invalid for an unknown user
   */
  heir(principal: Principal, place: Place, user: string): string;
  /** Returns whether something that outlives its request may continue to read a run: it needs `write` and `checkSharing`. */
  mayOutlive(principal: Principal, run: Place): boolean;
};

type ShownThread = NamesParents & { owner?: string | undefined };

export type Right = 'read' | 'write' | 'decide';

type AccessStore = {
  threads: Pick<Store['threads'], 'get' | 'partitionsWith'>;
  runs: Pick<Store['runs'], 'get' | 'partitionsWith'>;
  dispatches: Pick<Store['dispatches'], 'get' | 'partitionsWith'>;
  users: Pick<Store['users'], 'get'>;
};

/** Finds things of one kind by id. */
type Finder = {
  kind: 'thread' | 'run';
  has(scope: string, id: string): boolean;
  partitionsWith(list: string, id: string, limit: number): string[];
  createdAt(scope: string, id: string): number;
  /** Returns whether the uid is that of the thing at this place. */
  hasUid(scope: string, id: string, uid: string): boolean;
  /** Returns the thread whose owner and visibility decide. */
  threadOf(place: Place): Place | undefined;
};

export const createAccess = (store: AccessStore): Access => {
  const { threads, runs } = createFinders(store);
  const visibilityOf = ({ scope, id }: Place): Visibility =>
    store.threads.get(scope, id)?.thread.visibility ?? 'private';

  const seenAs = (scope: string, thread: Place | undefined): Seen => ({
    scope,
    visibility: () => (thread ? visibilityOf(thread) : 'private'),
  });

  const place = (finder: Finder, principal: Principal, id: string, right: Right): Place => {
    const found = find(finder, principal, id);
    if (!found) return { scope: partitionOf(principal), id };
    const thread = finder.threadOf(found);
    check(principal, seenAs(found.scope, thread), right);
    return found;
  };

  const sees: Access['sees'] = (principal, at) =>
    isOwner(principal, at.scope) ||
    may(principal, READ_ALL) ||
    (principal.user !== undefined && visibilityOf(at) !== 'private');

  return {
    thread: (principal, id, right) => place(threads, principal, id, right),
    run: (principal, id, right) => place(runs, principal, id, right),
    work(principal, id, right) {
      const own = partitionOf(principal);
      const isRun = runs.has(own, id) || (!threads.has(own, id) && find(runs, principal, id) !== undefined);
      const dispatch = isRun || threads.has(own, id) ? undefined : findDispatch(store, principal, id);
      if (!dispatch) {
        const finder = isRun ? runs : threads;
        const found = place(finder, principal, id, right);
        return { ...found, thread: finder.threadOf(found) ?? found };
      }
      check(principal, seenAs(dispatch.scope, dispatch.thread), right);
      return { scope: dispatch.scope, id, thread: dispatch.thread };
    },
    lists: listsFor,
    sees,
    ...createViews(sees),
    may: (principal, at, right) => missing(principal, seenAs(at.scope, at), right) === undefined,
    check: (principal, at, right) => check(principal, seenAs(at.scope, at), right),
    reading(kind, place, right, agent) {
      const thread = (kind === 'run' ? runs : threads).threadOf(place) ?? place;
      return {
        thread,
        right,
        isAllowed(principal) {
          const seen = seenAs(thread.scope, thread);
          if (agent !== undefined && !may(principal, ['invoke', agent])) return false;
          return isVisible(principal, seen) && missing(principal, seen, right) === undefined;
        },
      };
    },
    checkSharing(principal, { scope }) {
      if (!mayShare(principal, scope)) throw forbidden(WRITE_ALL);
    },
    heir(principal, { scope: partition }, given) {
      if (!mayShare(principal, partition)) throw forbidden(WRITE_ALL);
      const heir = { scope: baseOf(partition), user: soughtUserId(given) };
      if (!store.users.get(heir.scope, heir.user)) throw new Invalid(`owner: unknown user '${given}'`);
      checkPartitionOf(heir);
      return partitionOf(heir);
    },
    mayOutlive(principal, run) {
      const thread = runs.threadOf(run) ?? run;
      const seen = seenAs(thread.scope, thread);
      const mayWrite = isVisible(principal, seen) && missing(principal, seen, 'write') === undefined;
      return mayWrite && mayShare(principal, thread.scope);
    },
  };
};

/** Threads name only threads of their owner. */
const createViews = (
  sees: Access['sees'],
): Pick<Access, 'shown' | 'shownRun' | 'shownEvent' | 'shownRunEvent'> => {
  const hiddenFrom =
    (principal: Principal, { owner }: { owner?: string | undefined }): IsHidden =>
    (id) =>
      !sees(principal, { scope: partitionOf({ scope: principal.scope, user: owner }), id });
  const hiddenIn = (principal: Principal, { scope }: Place): IsHidden | undefined =>
    isOwner(principal, scope) || may(principal, READ_ALL)
      ? undefined
      : hiddenFrom(principal, { owner: ownerOf(scope) });
  return {
    shown: (principal, thread) => withoutHiddenParent(thread, hiddenFrom(principal, thread)),
    shownRun: (principal, run) => runWithoutHiddenParent(run, hiddenFrom(principal, run)),
    shownEvent(principal, place) {
      const isHidden = hiddenIn(principal, place);
      return isHidden && ((event) => eventWithoutHiddenParent(event, isHidden));
    },
    shownRunEvent(principal, place) {
      const isHidden = hiddenIn(principal, place);
      return isHidden && ((event) => runEventWithoutHiddenParent(event, isHidden));
    },
  };
};

const createFinders = (store: AccessStore): { threads: Finder; runs: Finder } => ({
  threads: {
    kind: 'thread',
    has: (scope, id) => store.threads.get(scope, id) !== undefined,
    partitionsWith: store.threads.partitionsWith,
    createdAt: (scope, id) => store.threads.get(scope, id)?.thread.metadata.created_at ?? 0,
    hasUid(scope, id, uid) {
      const thread = store.threads.get(scope, id)?.thread;
      if (!thread || thread.uid === uid) return thread !== undefined;
      // The long form also names a thread whose id the service made.
      return (thread.uid ?? id) === id && isLongUid(scope, id, uid);
    },
    threadOf: (place) => place,
  },
  runs: {
    kind: 'run',
    has: (scope, id) => store.runs.get(scope, id) !== undefined,
    partitionsWith: store.runs.partitionsWith,
    createdAt: (scope, id) => store.runs.get(scope, id)?.created_at ?? 0,
    // Records of runs have no uid.
    hasUid: (scope, id, uid) => store.runs.get(scope, id) !== undefined && isLongUid(scope, id, uid),
    threadOf({ scope, id }) {
      const run = store.runs.get(scope, id);
      return run && { scope, id: run.thread_id };
    },
  },
});

const READ_ALL: Need = ['read', 'all'];
const BUDGETS: Need = ['configure', 'budgets'];
const WRITE_ALL: Need = ['write', 'all'];

/** Two are enough to know that an id is ambiguous; the error names a few more. */
const MOST_FOUND = 10;

/** Returns the visible thing with this id: the principal's own, else that with this uid, else that of this name. */
const find = (finder: Finder, principal: Principal, id: string): Place | undefined => {
  const own = partitionOf(principal);
  if (finder.has(own, id)) return { scope: own, id };
  const readsAll = may(principal, READ_ALL);
  // Requests without a user see what has no owner, and that is their own.
  if (principal.user === undefined && !readsAll) return undefined;
  return findByUid(finder, principal, id) ?? findByName(finder, principal, id, readsAll);
};

/** Returns the place of a visible dispatch, whose id the service has made, and that of its thread. */
const findDispatch = (
  { dispatches, threads }: AccessStore,
  principal: Principal,
  id: string,
): { scope: string; thread: Place } | undefined => {
  const { scope } = principal;
  const own = partitionOf(principal);
  const others = dispatches.get(own, id) ? [] : dispatches.partitionsWith(ownedIn(scope), id, MOST_FOUND);
  for (const partition of [own, scope, ...others]) {
    const dispatch = dispatches.get(partition, id);
    if (!dispatch) continue;
    const thread = { scope: partition, id: dispatch.thread_id };
    const { visibility = 'private' } = threads.get(partition, thread.id)?.thread ?? {};
    if (isVisible(principal, { scope: partition, visibility: () => visibility }))
      return { scope: partition, thread };
  }
  // An unused id takes the reads of a hidden one: only the record of a dispatch names the thread that decides.
  if (others.length === 0 && dispatches.get(own, id) === undefined) threads.get(own, id);
  return undefined;
};

const listSeenBy = ({ scope }: Principal, readsAll: boolean): string =>
  readsAll ? ownedIn(scope) : sharedIn(scope);

const findByUid = (finder: Finder, principal: Principal, uid: string): Place | undefined => {
  const id = idInUid(uid);
  if (id === undefined) return undefined;
  const own = partitionOf(principal);
  if (finder.hasUid(own, id, uid)) return { scope: own, id };
  const list = listSeenBy(principal, may(principal, READ_ALL));
  const scope = finder.partitionsWith(list, id, MOST_OF_A_NAME).find((each) => finder.hasUid(each, id, uid));
  return scope === undefined ? undefined : { scope, id };
};

const isLongUid = (partition: string, id: string, uid: string): boolean => {
  const owner = ownerOf(partition);
  return owner !== undefined && longUidOf(owner, id) === uid;
};

/** Beyond so many visible threads of one name, a uid among them may not be found. */
const MOST_OF_A_NAME = 10_000;

const findByName = (
  finder: Finder,
  principal: Principal,
  id: string,
  readsAll: boolean,
): Place | undefined => {
  const base = readsAll && finder.has(principal.scope, id);
  const isUid = isMadeHere(id);
  // The id of something without an owner is also its uid.
  if (base && !isUid) return { scope: principal.scope, id };
  const list = listSeenBy(principal, readsAll);
  const found = [
    ...(base ? [principal.scope] : []),
    ...finder.partitionsWith(list, id, isUid ? MOST_OF_A_NAME : MOST_FOUND),
  ];
  if (isUid && found.length > 1) return { scope: oldest(finder, found, id), id };
  const [scope, another] = found;
  if (another !== undefined) throw ambiguous(finder.kind, id, found);
  return scope === undefined ? undefined : { scope, id };
};

/** Records of runs have no uid, so the error names those of the runs. The principal may read all of them. */
const ambiguous = (kind: Finder['kind'], id: string, partitions: readonly string[]): Conflict => {
  if (kind === 'thread') return new Conflict(`'${id}' names more than one thread: use its uid`);
  const uids = partitions.map((partition) => `'${longUidOf(ownerOf(partition) ?? '', id)}'`);
  return new Conflict(`'${id}' names more than one run: use ${uids.join(' or ')}`);
};

/** The id that the service made is the uid of the oldest: another client that chooses the same id learned it from there. */
const oldest = (finder: Finder, partitions: readonly string[], id: string): string =>
  partitions.reduce((one, other) => (finder.createdAt(other, id) < finder.createdAt(one, id) ? other : one));

const listsFor = (principal: Principal): Lists => {
  const { scope, user } = principal;
  if (may(principal, READ_ALL)) return [scope, ownedIn(scope)];
  return user === undefined ? scope : [partitionOf(principal), sharedIn(scope)];
};

/** The visibility is read only for who is not the owner. */
type Seen = { scope: string; visibility(): Visibility };

const mayShare = (principal: Principal, scope: string): boolean =>
  isOwner(principal, scope) || may(principal, WRITE_ALL);

const isOwner = ({ user }: Principal, scope: string): boolean => user === ownerOf(scope);

/** Returns whether the principal may read what is in a thread. */
const isVisible = (principal: Principal, { scope, visibility }: Seen): boolean => {
  if (baseOf(scope) !== principal.scope) return false;
  if (isOwner(principal, scope)) return true;
  return may(principal, READ_ALL) || (principal.user !== undefined && visibility() !== 'private');
};

/** @throws Forbidden */
const check = (principal: Principal, seen: Seen, right: Right): void => {
  const need = missing(principal, seen, right);
  if (need) throw forbidden(need);
};

/** Returns the grant that the principal lacks for an act on a thread that it may read. */
const missing = (principal: Principal, { scope, visibility }: Seen, right: Right): Need | undefined => {
  if (right === 'read') return undefined;
  const word = right === 'write' ? 'invoke' : 'decide';
  // Raising a budget that a run waits for is a decision, with a right of another name (identity.md 4).
  const isOtherDecider = right === 'decide' && may(principal, BUDGETS);
  if (!mayAtAll(principal, word) && !isOtherDecider) return [word];
  const isFree = isOwner(principal, scope) || visibility() === 'write' || may(principal, WRITE_ALL);
  if (isFree || (right === 'decide' && may(principal, READ_ALL))) return undefined;
  return WRITE_ALL;
};
