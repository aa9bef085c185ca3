/**
 * The order of test files. Long ones start first, so that the remaining ones are short and no core is idle at the end.
 */

const LONG = [
  'test/console/configuration.test.ts',
  'test/console/conversations.test.ts',
  'test/console/screens.test.ts',
  'test/docs/browser.test.ts',
  'test/packed/',
  'test/console/first-use.test.ts',
  'test/cluster/',
  'test/examples/',
  'test/crash/',
  'test/property/runtime.test.ts',
  'test/load-generator/',
  'test/e2e/',
  'test/docs/',
  'test/interop/',
];

/** The test that checks the responses recorded by all others. */
export const LAST = 'test/contract/answers.test.ts';

/** @returns files in the order in which they start; neighbors need the same modules. Excludes the last test */
export const plan = (files: readonly string[]): string[] => {
  const rankOf = (file: string): number => {
    const rank = LONG.findIndex((place) => file.startsWith(place));
    return rank === -1 ? LONG.length : rank;
  };
  return files.filter((file) => file !== LAST).sort((a, b) => rankOf(a) - rankOf(b));
};
