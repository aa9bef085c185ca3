import type { PoolSpec } from '../schema/model.ts';

/**
 * Which member of a pool a session is sent to (agent-loop.md 11, rules 2 and 3).
 *
 * Weighted rendezvous hashing: each member has a score that depends on the session, itself and its weight alone,
 * so a member that comes or goes moves only the sessions that it gains or had. Nothing is stored for that; a
 * choice costs one hash a member. The contract names the hash; it mixes its last byte badly, so among members
 * whose ids differ in the last character only, sessions are shared by equal weights but not by different ones.
 */

export type Member = PoolSpec['members'][number];

export type HomeRouting = PoolSpec['routing']['home'];

const FNV_OFFSET = 0xcbf29ce484222325n;
const FNV_PRIME = 0x100000001b3n;
const TWO_TO_64 = 2n ** 64n;
const ZERO_BYTE = Uint8Array.of(0);

/** 64-bit FNV-1a of bytes, or of what goes on after a hash. */
export const fnv1a64 = (bytes: Uint8Array, hash: bigint = FNV_OFFSET): bigint => {
  let next = hash;
  for (const byte of bytes) next = BigInt.asUintN(64, (next ^ BigInt(byte)) * FNV_PRIME);
  return next;
};

/** `weight / -ln u` with `u = (hash + 1) / (2^64 + 1)`, which is always between 0 and 1. */
export const rendezvousScore = (hash: bigint, weight: number): number => {
  const span = Number(TWO_TO_64);
  // Near 1 a double cannot tell u from 1; its distance from 1 is exact.
  const negativeLog =
    hash < TWO_TO_64 / 2n
      ? -Math.log(Number(hash + 1n) / span)
      : -Math.log1p(-Number(TWO_TO_64 - hash) / span);
  return weight / negativeLog;
};

const bytesOf = (text: string): Uint8Array => Buffer.from(text, 'utf8');

/** The best score of those eligible; of equal ones the first. */
export const byRendezvous = (
  key: string,
  members: readonly Member[],
  eligible: (index: number) => boolean,
): number | undefined => {
  const prefix = fnv1a64(ZERO_BYTE, fnv1a64(bytesOf(key)));
  let best: { index: number; score: number } | undefined;
  for (const [index, { model_id, weight }] of members.entries()) {
    if (!eligible(index)) continue;
    const score = rendezvousScore(fnv1a64(bytesOf(model_id), prefix), weight);
    if (!best || score > best.score) best = { index, score };
  }
  return best?.index;
};

export const byOrder = (
  members: readonly Member[],
  eligible: (index: number) => boolean,
): number | undefined => {
  const index = members.findIndex((_, each) => eligible(each));
  return index === -1 ? undefined : index;
};

/**
 * Takes the eligible members in turn, each as often as its weight says and as evenly spread as can be: whoever
 * was passed over gains its weight, whoever is taken pays what all of them gained.
 */
export const createRotation = (
  members: readonly Member[],
): ((eligible: (index: number) => boolean) => number | undefined) => {
  const credit = members.map(() => 0);
  const creditOf = (index: number): number => credit[index] ?? 0;
  return (eligible) => {
    let chosen: number | undefined;
    let total = 0;
    for (const [index, { weight }] of members.entries()) {
      if (!eligible(index)) continue;
      total += weight;
      credit[index] = creditOf(index) + weight;
      if (chosen === undefined || creditOf(index) > creditOf(chosen)) chosen = index;
    }
    if (chosen !== undefined) credit[chosen] = creditOf(chosen) - total;
    return chosen;
  };
};
