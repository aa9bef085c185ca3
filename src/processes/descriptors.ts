import { openSync, readdirSync, readFileSync } from 'node:fs';

/**
 * The descriptors of this process that a started program would inherit.
 *
 * Node and uWebSockets.js open everything with close-on-exec. LMDB opens its data files without it, and the process may
 * have inherited descriptors from its own parent. Node cannot set the flag afterwards, so `startProgram` covers these
 * descriptors in the child. On macOS libuv closes them itself (POSIX_SPAWN_CLOEXEC_DEFAULT), and there is no `/proc`,
 * so the list is empty.
 *
 * Guarantees: the list contains every such open descriptor and no other number, as long as each library that opens one
 * calls `findInheritable` before it returns to the event loop. A closed number must not be covered: the pipe on which
 * libuv reports a failed start may have it, and the failure would be lost.
 * Costs: a few system calls per listed descriptor when a program starts; one descriptor for `/dev/null`.
 */

const FOLDER = '/proc/self/fd';
const CLOSE_ON_EXEC = 0o2000000;
/** Input, output and errors are set explicitly for each program. */
const FIRST = 3;

let found: readonly number[] | undefined;
let nothing: number | undefined;

/** Reads the list again. Call it right after something was opened without close-on-exec. */
export const findInheritable = (): readonly number[] => {
  found = numbersIn(FOLDER).filter((number) => number >= FIRST && isInheritable(number));
  return found;
};

export const inheritable = (): readonly number[] => (found ?? findInheritable()).filter(isInheritable);

/** A descriptor of `/dev/null`, which stays open, so that starting a program needs no free descriptor for it. */
export const nullDescriptor = (): number => {
  nothing ??= openSync('/dev/null', 'r+');
  return nothing;
};

const numbersIn = (folder: string): number[] => {
  try {
    return readdirSync(folder).map(Number);
  } catch {
    return [];
  }
};

const isInheritable = (number: number): boolean => {
  try {
    const flags = /^flags:\s*([0-7]+)/m.exec(readFileSync(`/proc/self/fdinfo/${number}`, 'latin1'))?.[1];
    return flags !== undefined && (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0;
  } catch {
    // The descriptor that listed the folder is closed by now.
    return false;
  }
};
