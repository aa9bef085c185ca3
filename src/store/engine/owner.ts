import { join } from 'node:path';
import type { RootDatabase } from 'lmdb';
import { Unavailable } from '../../schema/outcome.ts';
import { closePrivate, openPrivate } from './environment.ts';

/**
 * Ensures that one process uses a folder.
 *
 * The folder contains a second, empty LMDB environment that the owner keeps open and reads once. That read takes a slot
 * with its pid in the environment's table of readers, and keeps it. The pid of each slot is backed by a lock that the
 * operating system releases when that process ends, in any way: a crash leaves nothing to clean up, and a process that
 * gets the same pid later holds no lock and counts as dead. Two processes that start at the same moment may both see
 * the other, and then both fail; it never happens that both continue. Within a process, a list of open folders has the
 * same effect.
 *
 * Limits, as in LMDB: a local file system, and processes that see the same pids (two containers with separate pid
 * namespaces must not share a folder).
 */

export type Ownership = { release(): Promise<void> };

const openHere = new Set<string>();

/** @throws Unavailable when the folder is in use, by this or another live process */
export const takeOwnership = async (dir: string): Promise<Ownership> => {
  if (openHere.has(dir)) throw taken(dir, process.pid);
  openHere.add(dir);
  let table: RootDatabase | undefined;
  const release = async (): Promise<void> => {
    if (table) await closePrivate(table);
    openHere.delete(dir);
  };
  try {
    table = openPrivate({ path: join(dir, 'owner.mdb'), noSubdir: true });
    const other = otherReader(dir, table);
    if (other !== undefined) throw taken(dir, other);
    return { release };
  } catch (error) {
    await release();
    throw error;
  }
};

/**
 * Registers this process before checking for others, so that at least one of two processes sees the other. lmdb cleared
 * the slots of dead processes when it opened the environment.
 */
const otherReader = (dir: string, table: RootDatabase): number | undefined => {
  try {
    table.get('owner');
  } catch (cause) {
    // The slot for this pid is locked by another process, and lmdb fails when it uses the transaction that it did not
    // get.
    if (cause instanceof TypeError) throw takenByTwin(dir, cause);
    throw cause;
  }
  return pidsIn(table.readerList()).find((pid) => pid !== process.pid);
};

const taken = (dir: string, pid: number): Unavailable =>
  new Unavailable(
    `data directory '${dir}' is in use by process ${pid}: stop that process, or choose another directory`,
  );

const takenByTwin = (dir: string, cause: unknown): Unavailable =>
  new Unavailable(
    `data directory '${dir}' is in use by a process of another container that has the same process id (${process.pid}): stop that container, or choose another directory`,
    { cause },
  );

/** The list has a heading line, then one line per reader that begins with its pid. */
const pidsIn = (list: string): number[] =>
  Array.from(list.matchAll(/^\s*(\d+)\s/gm), ([, pid]) => Number(pid));
