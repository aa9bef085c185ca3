import { MAX_ID_BYTES } from './id.ts';
import { Invalid } from './outcome.ts';

/**
 * The partition of a scope that holds the threads of one user, with all that belongs to them (identity.md 1.3, 1.4).
 *
 * Stores, actors and buffers name everything by a scope and an id. For threads with an owner that scope is a partition,
 * whose name is made of scope and owner. So ids that clients choose are names within their owner, and code that does not
 * ask `identity/access` finds nothing of another user. Threads without an owner are in the scope itself.
 *
 * @example
 * partitionOf({ scope: 'acme', user: 'alice' }); // '~acme~alice'
 * baseOf('~acme~alice'); // 'acme'
 * ownerOf('~acme~alice'); // 'alice'
 */

/** Reserved: no scope begins with it. */
const MARK = '~';

export const isReservedScope = (scope: string): boolean => scope.startsWith(MARK);

export const partitionOf = ({ scope, user }: { scope: string; user: string | undefined }): string =>
  user === undefined ? scope : `${MARK}${scope}${MARK}${escaped(user)}`;

type Owner = { scope: string; user: string | undefined };

const bytesOf = (of: Owner): number => Buffer.byteLength(partitionOf(of));

/** Returns whether rows can be in the partition: its name is their scope, whose length is bounded by keys. */
export const canBePartition = (of: Owner): boolean => bytesOf(of) <= MAX_ID_BYTES;

/** @throws Invalid */
export const checkPartitionOf = (of: Owner): void => {
  if (canBePartition(of)) return;
  const bytes = bytesOf(of);
  throw new Invalid(
    `the user id is too long for its scope: together they take ${bytes} bytes (each '%' and '~' of the user id counts as three), at most ${MAX_ID_BYTES} are allowed`,
  );
};

/** Returns the scope of a partition; that of a scope is the scope itself. */
export const baseOf = (partition: string): string =>
  isReservedScope(partition) ? partition.slice(1, partition.lastIndexOf(MARK)) : partition;

/** Returns the user whose threads are in the partition; undefined for a scope, whose threads have no owner. */
export const ownerOf = (partition: string): string | undefined =>
  isReservedScope(partition) ? unescaped(partition.slice(partition.lastIndexOf(MARK) + 1)) : undefined;

/** The list of everything in a scope that has an owner. An escaped user is never empty. */
export const ownedIn = (scope: string): string => `${MARK}${scope}${MARK}`;

/** The list of everything in a scope that its users share. A percent sign alone is no escaped user. */
export const sharedIn = (scope: string): string => `${MARK}${scope}${MARK}%`;

/** Whether this is the name of a list across partitions, which has no records. */
export const isListOfPartitions = (scope: string): boolean =>
  isReservedScope(scope) && (scope.endsWith(MARK) || scope.endsWith(`${MARK}%`));

/**
 * Returns the lists that contain a thread or a run, in addition to those of its thread: that of its partition, of
 * everything with an owner, of everything that is shared. Rows of a list are shown to
 * - requests without a user: the list of the scope
 * - a user: the list of the partition, and what is shared
 * - readers of everything: the list of the scope, and what has an owner
 *
 * so none of them finds a row twice.
 */
export const listsWith = (partition: string, isShared: boolean): readonly string[] => {
  // A commit names the lists of one partition for each of its records.
  if (last.partition !== partition) last = namesFor(partition);
  return isShared ? last.shared : last.hidden;
};

type Names = {
  partition: string;
  /** The lists of what is shared. */
  shared: readonly string[];
  hidden: readonly string[];
};

const namesFor = (partition: string): Names => {
  const base = baseOf(partition);
  const shared = sharedIn(base);
  return isReservedScope(partition)
    ? { partition, shared: [ownedIn(base), shared], hidden: [partition, ownedIn(base)] }
    : { partition, shared: [partition, shared], hidden: [partition] };
};

let last: Names = namesFor('');

/** Most users have neither character in their names, and each request names a partition several times. */
const SPECIAL = /[%~]/;

const escaped = (user: string): string =>
  SPECIAL.test(user) ? user.replaceAll('%', '%25').replaceAll(MARK, '%7E') : user;

const unescaped = (text: string): string =>
  SPECIAL.test(text) ? text.replaceAll('%7E', MARK).replaceAll('%25', '%') : text;
