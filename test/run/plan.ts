/**
 * In which order test files run. What takes long starts first, so that what is left for the end is short and no core
 * waits for it.
 */

const LONG = [
  'test/console/browser.test.ts',
  'test/packed/',
  'test/examples/',
  'test/crash/',
  'test/property/runtime.test.ts',
  'test/load/',
  'test/e2e/',
  'test/readme/',
  'test/interop/',
];

/** What looks at the answers that the others got. */
export const LAST = 'test/contract/answers.test.ts';

/** @returns files in the order in which they start; neighbours need the same modules. The last test of all is not among them */
export const plan = (files: readonly string[]): string[] => {
  const rankOf = (file: string): number => {
    const rank = LONG.findIndex((place) => file.startsWith(place));
    return rank === -1 ? LONG.length : rank;
  };
  return files.filter((file) => file !== LAST).sort((a, b) => rankOf(a) - rankOf(b));
};
