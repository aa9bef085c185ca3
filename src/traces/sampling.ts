/** Which traces are kept when their runs have ended (evals-and-traces.md 9.6). */

const OFFSET_BASIS = 0xcbf29ce484222325n;
const PRIME = 0x100000001b3n;
const LARGEST = 0xffffffffffffffffn;

/** FNV-1a of 64 bits over the UTF-8 of a text. */
export const fnv1a = (text: string): bigint => {
  let hash = OFFSET_BASIS;
  for (const byte of Buffer.from(text)) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * PRIME);
  return hash;
};

const BELOW_WHICH_A_SCORE_IS_LOW = 0.5;

export type Remarkable = { isKept: boolean; hasFailed: boolean; judgeScore: number | undefined };

/** The same run is kept or not, whoever decides it. */
export const isSampled = (
  run_id: string,
  { isKept, hasFailed, judgeScore }: Remarkable,
  proportion: number,
): boolean => {
  if (isKept || hasFailed) return true;
  if (judgeScore !== undefined && judgeScore < BELOW_WHICH_A_SCORE_IS_LOW) return true;
  if (proportion >= 1) return true;
  return proportion > 0 && Number(fnv1a(run_id)) / Number(LARGEST) < proportion;
};
