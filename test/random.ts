import fc, { type RunDetails } from 'fast-check';

/**
 * All randomness in the tests is derived from one seed, which is new for each run. `TROUPE_TEST_SEED` repeats a run. A
 * property that fails prints the seed, with the path to the counterexample.
 */
const seedFrom = (text: string | undefined): number => {
  if (text === undefined || text === '') return Math.floor(Math.random() * 2 ** 31);
  const seed = Number(text);
  if (Number.isSafeInteger(seed) && seed >= 0) return seed;
  throw new Error(`TROUPE_TEST_SEED: '${text}' is not allowed; allowed: a whole number from 0`);
};

export const SEED = seedFrom(process.env.TROUPE_TEST_SEED);

/** tap parses the message as a line of its protocol, and loses all of it if it contains other line separators. */
const inOneLine = (text: string): string =>
  text.replaceAll(/[\u2028\u2029]/g, (end) => `\\u${end.charCodeAt(0).toString(16)}`);

const report = (details: RunDetails<unknown>): void => {
  if (!details.failed) return;
  throw new Error(inOneLine(fc.defaultReportMessage(details) ?? ''), { cause: details.errorInstance });
};

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: SEED, reporter: report });

const SURROGATES = { first: 0xd800, count: 0x800 };

const character = fc
  .integer({ min: 0, max: 0x10ffff - SURROGATES.count })
  .map((n) => String.fromCodePoint(n < SURROGATES.first ? n : n + SURROGATES.count));

/** Any characters. Strings of the unit `binary` would cost fast-check a second of CPU time to prepare. */
export const anyText = (length: { minLength?: number; maxLength?: number } = {}): fc.Arbitrary<string> =>
  fc.array(character, length).map((characters) => characters.join(''));

export default fc;
