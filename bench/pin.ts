import { spawnSync } from 'node:child_process';
import { cpus } from 'node:os';

/**
 * Pins measured processes to one core and the measuring process to another: otherwise they would share cores, and the
 * figures would show the scheduler. All threads of a server stay on its core, including those that flush the store.
 */

const SERVER_CORE = '0';
const LOAD_CORE = '1';

const works = (args: readonly string[]): boolean => spawnSync('taskset', args).status === 0;

let isPinned: boolean | undefined;

/** Pins this process on the first call. @returns true if that succeeded */
export const pinned = (): boolean => {
  isPinned ??=
    cpus().length >= 2 &&
    works(['-c', SERVER_CORE, 'true']) &&
    works(['-a', '-p', '-c', LOAD_CORE, String(process.pid)]);
  return isPinned;
};

/** Turns a command into one that runs on certain cores. */
export type Place = (command: readonly string[]) => readonly string[];

export const onServerCore: Place = (command) =>
  pinned() ? ['taskset', '-c', SERVER_CORE, ...command] : command;

/** For sequential requests, where the load generator uses next to no CPU time. */
export const onAllCores: Place = (command) =>
  pinned() ? ['taskset', '-c', `0-${cpus().length - 1}`, ...command] : command;

/** Runs on the core of this process, which children inherit, not on that of the servers. */
export const beside: Place = (command) => command;
