import { spawnSync } from 'node:child_process';
import { cpus } from 'node:os';

/**
 * One core for what is measured, another for what measures it: otherwise the two take turns on a core, and a
 * figure shows the scheduler. All threads of a server stay on its core, those that flush the store too.
 */

const SERVER_CORE = '0';
const LOAD_CORE = '1';

const works = (args: readonly string[]): boolean => spawnSync('taskset', args).status === 0;

let isPinned: boolean | undefined;

/** Puts this process on its core when it is asked for the first time. @returns whether that could be done */
export const pinned = (): boolean => {
  isPinned ??=
    cpus().length >= 2 &&
    works(['-c', SERVER_CORE, 'true']) &&
    works(['-a', '-p', '-c', LOAD_CORE, String(process.pid)]);
  return isPinned;
};

/** Turns a command into one that runs in its place. */
export type Place = (command: readonly string[]) => readonly string[];

export const onServerCore: Place = (command) =>
  pinned() ? ['taskset', '-c', SERVER_CORE, ...command] : command;

/** For what is asked one thing at a time, where the load takes next to nothing. */
export const onAllCores: Place = (command) =>
  pinned() ? ['taskset', '-c', `0-${cpus().length - 1}`, ...command] : command;

/** Not on the core of the servers, but where this process is: children stay there. */
export const beside: Place = (command) => command;
