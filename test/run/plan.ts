/**
 * Which test files share a process. A file that takes long, or that starts programs and reads their processor time
 * or memory, has its own and starts first: what is left for the end is short, and no core waits for it.
 */

const ALONE = [
  'test/crash/',
  'test/property/runtime.test.ts',
  'test/examples/',
  'test/readme/',
  'test/e2e/',
  'test/load/bench.test.ts',
  'test/machines/run.test.ts',
  'test/service/config/files.test.ts',
];

/** What looks at the answers that the others got. */
export const LAST = 'test/contract/answers.test.ts';

/** A process takes most of a second before its first test. */
const FILES_OF_GROUP = 28;

/** @returns groups in the order in which they start; the last test of all is in none */
export const plan = (files: readonly string[]): string[][] => {
  const alone: string[] = [];
  const others: string[] = [];
  for (const file of files) {
    if (file === LAST) continue;
    (ALONE.some((place) => file.startsWith(place)) ? alone : others).push(file);
  }
  const rank = (file: string): number => ALONE.findIndex((place) => file.startsWith(place));
  alone.sort((a, b) => rank(a) - rank(b));
  const groups = alone.map((file) => [file]);
  // Neighbours need the same modules.
  for (let i = 0; i < others.length; i += FILES_OF_GROUP) groups.push(others.slice(i, i + FILES_OF_GROUP));
  return groups;
};
