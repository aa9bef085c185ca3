/** Decides which traces are kept when their runs have ended (evals-and-traces.md 9.6). */

/**
 * Offset basis and prime (2^40 + 0x1b3) of the hash; halves of 32 bits are exact as numbers, and 20 times faster than
 * bigints.
 */
const BASIS = { high: 0xcbf29ce4, low: 0x84222325 };
const PRIME_LOW = 0x1b3;
const HALF = 2 ** 32;

export type Hash = { high: number; low: number };

/** FNV-1a with 64 bits over the UTF-8 bytes of a text. */
export const fnv1a = (text: string): Hash => {
  let { high, low } = BASIS;
  for (const byte of Buffer.from(text)) {
    const mixed = (low ^ byte) >>> 0;
    const product = mixed * PRIME_LOW;
    high = (high * PRIME_LOW + Math.floor(product / HALF) + mixed * 256) % HALF;
    low = product % HALF;
  }
  return { high, low };
};

/** Maps a hash to 0..1. */
const shareOf = ({ high, low }: Hash): number => (high * HALF + low) / (HALF * HALF - 1);

const LOW_SCORE_LIMIT = 0.5;

export type Remarkable = { hasFailed: boolean; judgeScore: number | undefined };

/** Deterministic: the decision for a run is the same in every process. */
export const isSampled = (
  run_id: string,
  { hasFailed, judgeScore }: Remarkable,
  proportion: number,
): boolean => {
  if (hasFailed) return true;
  if (judgeScore !== undefined && judgeScore < LOW_SCORE_LIMIT) return true;
  if (proportion >= 1) return true;
  return proportion > 0 && shareOf(fnv1a(run_id)) < proportion;
};
