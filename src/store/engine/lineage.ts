import { createHash } from 'node:crypto';

/**
 * Lineage numbers: the unit in which members own threads. A root thread has its own number; a thread that the
 * runtime makes below another one has the number of its parent, which its record contains (`threads.ts`).
 */

/** The lineage of the configuration and of everything that is not part of a thread. */
export const COMMONS = 0n;

/** Returns the number of a root thread: a signed 64-bit number, and never that of the commons. */
export const numberOfRoot = (scope: string, thread_id: string): bigint => {
  const number = createHash('sha256').update(`${scope}\0${thread_id}`).digest().readBigInt64BE(0);
  return number === COMMONS ? 1n : number;
};
