import type { Clock } from '../schema/clock.ts';
import { Forbidden, Unauthorized } from '../schema/outcome.ts';
import { partitionOf } from '../schema/partition.ts';
import type { Place } from '../schema/place.ts';
import { nameOf, type Principal, presentRights } from '../schema/principal.ts';
import type { AddReader, Reader } from '../schema/reader.ts';
import { timerMs } from '../schema/timer.ts';
import type { Affected, Changes } from './changes.ts';

/**
 * The event streams and sessions of users, which end with the rights of their principal (identity.md 1.5).
 *
 * Guarantees: a change of a user, of its keys, or of the visibility of a thread ends, before the change is confirmed,
 * each reader that it affects and whose request would now be refused. The expiry of a credential ends the readers that
 * follow within `EXPIRY_STEP_MS`. Principals without a user are judged again if they have a session,
 * or for their thread.
 * Cost: a few entries of maps per reader, and nothing per event. A change judges the readers of one user or of one
 * thread; those of one principal share its judgement.
 */
export type Readers = {
  add: AddReader;
  /** Judges the readers of a thread again, because its visibility has changed. */
  sharingChanged(thread: Place): void;
  /** Ends the readers of a thread, because it was given to another owner. */
  threadMoved(thread: Place): void;
  close(): void;
};

type ReadersDeps = {
  changes: Pick<Changes, 'revision' | 'onChange'>;
  clock: Clock;
};

type Entry = { readonly reader: Reader; principal: Principal };

/** The least time between two searches for expired credentials. */
const EXPIRY_STEP_MS = 5_000;

export const createReaders = ({ changes, clock }: ReadersDeps): Readers => {
  const ofUser = createIndex();
  const ofThread = createIndex();
  const expiring = createExpiry(clock, (entry) => finish(entry));

  const remove = (entry: Entry): void => {
    for (const key of usersOf(entry)) ofUser.remove(key, entry);
    if (entry.reader.thread) ofThread.remove(keyOf(entry.reader.thread), entry);
    expiring.remove(entry);
  };

  const finish = (entry: Entry): void => {
    remove(entry);
    entry.reader.end();
  };

  const judge = (entry: Entry, presentOf: (principal: Principal) => Principal | undefined): void => {
    const present = presentOf(entry.principal);
    if (!present || !isAllowed(entry.reader, present)) {
      finish(entry);
      return;
    }
    entry.principal = present;
    expiring.put(entry);
  };

  const judgeAll = (entries: readonly Entry[]): void => {
    const presentOf = remembering(presentPrincipal);
    for (const entry of entries) judge(entry, presentOf);
  };

  const userChanged = ({ scope, user, key }: Affected): void => {
    const entries = ofUser.of(partitionOf({ scope, user }));
    judgeAll(key === undefined ? entries : entries.filter(({ principal }) => mayDependOn(principal, key)));
  };
  const leave = changes.onChange(userChanged);

  return {
    add(reader) {
      const { principal, thread } = reader;
      const entry: Entry = { reader, principal };
      if (thread) ofThread.add(keyOf(thread), entry);
      if (principal.user === undefined && !principal.basis) return () => remove(entry);
      for (const key of usersOf(entry)) ofUser.add(key, entry);
      expiring.put(entry);
      // Rights may have changed while the request was processed.
      const isCurrent = principal.basis === undefined || principal.basis.revision === changes.revision;
      const isOwn = thread === undefined || thread.scope === partitionOf(principal);
      if (!isCurrent || !isOwn) judge(entry, presentPrincipal);
      return () => remove(entry);
    },
    threadMoved(thread) {
      for (const entry of ofThread.of(keyOf(thread))) finish(entry);
    },
    sharingChanged: (thread) => judgeAll(ofThread.of(keyOf(thread))),
    close() {
      leave();
      expiring.close();
    },
  };
};

const keyOf = ({ scope, id }: Place): string => `${scope}\0${id}`;

/** The partitions of the users whose changes affect an entry: that of its principal, and that of the key that names it. */
const usersOf = ({ reader: { principal } }: Entry): Set<string> => {
  const { scope, basis } = principal;
  const users = [nameOf(principal), ...(basis?.users ?? [])];
  return new Set(users.map((user) => partitionOf({ scope, user })));
};

/** A session or a ticket may have been created from the key. */
const mayDependOn = ({ credential: { kind, id } }: Principal, key: string): boolean =>
  kind !== 'key' || id === key;

const isAllowed = (reader: Reader, principal: Principal): boolean => {
  try {
    return reader.isAllowed(principal);
  } catch (error) {
    if (error instanceof Forbidden) return false;
    throw error;
  }
};

const presentPrincipal = (principal: Principal): Principal | undefined => {
  try {
    return presentRights(principal);
  } catch (error) {
    if (error instanceof Unauthorized || error instanceof Forbidden) return undefined;
    throw error;
  }
};

const remembering = <Key, Value>(work: (key: Key) => Value): ((key: Key) => Value) => {
  const known = new Map<Key, Value>();
  return (key) => {
    const before = known.get(key);
    if (before !== undefined || known.has(key)) return before as Value;
    const value = work(key);
    known.set(key, value);
    return value;
  };
};

const createIndex = () => {
  const sets = new Map<string, Set<Entry>>();
  return {
    /** Returns a copy. */
    of: (key: string): readonly Entry[] => [...(sets.get(key) ?? [])],
    add(key: string, entry: Entry): void {
      const set = sets.get(key) ?? new Set();
      sets.set(key, set.add(entry));
    },
    remove(key: string, entry: Entry): void {
      const set = sets.get(key);
      if (set?.delete(entry) && set.size === 0) sets.delete(key);
    },
  };
};

/** One timer, for the first credential that expires; it runs only while some do. */
const createExpiry = (clock: Clock, expired: (entry: Entry) => void) => {
  const entries = new Set<Entry>();
  let timer: NodeJS.Timeout | undefined;
  let firesAt = Number.POSITIVE_INFINITY;

  const schedule = (at: number): void => {
    if (at >= firesAt) return;
    clearTimeout(timer);
    firesAt = at;
    timer = setTimeout(search, timerMs(Math.max(0, at - clock.now()))).unref();
  };

  const search = (): void => {
    const now = clock.now();
    firesAt = Number.POSITIVE_INFINITY;
    for (const entry of [...entries]) if (endOf(entry) <= now) expired(entry);
    const next = Math.min(...[...entries].map(endOf));
    if (entries.size > 0) schedule(Math.max(next, now + EXPIRY_STEP_MS));
  };

  return {
    put(entry: Entry): void {
      const end = endOf(entry);
      if (end === Number.POSITIVE_INFINITY) {
        entries.delete(entry);
        return;
      }
      entries.add(entry);
      const now = clock.now();
      // A token is accepted for a while after its expiry.
      schedule(end > now ? end : now + EXPIRY_STEP_MS);
    },
    remove(entry: Entry): void {
      entries.delete(entry);
      if (entries.size > 0) return;
      clearTimeout(timer);
      firesAt = Number.POSITIVE_INFINITY;
    },
    close: () => clearTimeout(timer),
  };
};

const endOf = ({ reader, principal }: Entry): number =>
  reader.endsWithCredential
    ? (principal.basis?.expires_at ?? Number.POSITIVE_INFINITY)
    : Number.POSITIVE_INFINITY;
