import fc from 'fast-check';

/**
 * What is random in the tests follows from one seed, new for each run. `TROUPE_TEST_SEED` repeats a run's; a property
 * that fails says it, with the path to the counterexample.
 */
const seedFrom = (text: string | undefined): number => {
  if (text === undefined || text === '') return Math.floor(Math.random() * 2 ** 31);
  const seed = Number(text);
  if (Number.isSafeInteger(seed) && seed >= 0) return seed;
  throw new Error(`TROUPE_TEST_SEED: '${text}' is not allowed; allowed: a whole number from 0`);
};

export const SEED = seedFrom(process.env.TROUPE_TEST_SEED);

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: SEED });

export default fc;
