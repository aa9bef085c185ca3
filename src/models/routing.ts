import type { PoolSpec } from '../schema/model.ts';

/**
 * Assigns sessions to pool members (agent-loop.md 11, rules 2 and 3).
 *
 * Weighted rendezvous hashing: the score of a member depends only on the session, the member and its weight, so adding
 * or removing a member moves only the sessions that it gains or had. Nothing is stored; a choice costs one hash per
 * member. The contract specifies the hash. It mixes its last byte poorly, so among members whose ids differ only in the
 * last character, equal weights are respected but different ones are not.
 */

export type Member = PoolSpec['members'][number];

export type HomeRouting = PoolSpec['routing']['home'];

const FNV_OFFSET = 0xcbf29ce484222325n;
const FNV_PRIME = 0x100000001b3n;
const TWO_TO_64 = 2n ** 64n;
const ZERO_BYTE = Uint8Array.of(0);

/** 64-bit FNV-1a of bytes; `hash` continues an earlier hash. */
export const fnv1a64 = (bytes: Uint8Array, hash: bigint = FNV_OFFSET): bigint => {
  let next = hash;
  for (const byte of bytes) next = BigInt.asUintN(64, (next ^ BigInt(byte)) * FNV_PRIME);
  return next;
};

/** `weight / -ln u` with `u = (hash + 1) / (2^64 + 1)`, which is always between 0 and 1. */
export const rendezvousScore = (hash: bigint, weight: number): number => {
  const span = Number(TWO_TO_64);
  // Near 1 a double cannot represent u exactly; its distance from 1 is exact.
  const negativeLog =
    hash < TWO_TO_64 / 2n
      ? -Math.log(Number(hash + 1n) / span)
      : -Math.log1p(-Number(TWO_TO_64 - hash) / span);
  return weight / negativeLog;
};

const bytesOf = (text: string): Uint8Array => Buffer.from(text, 'utf8');

/** Returns the eligible member with the best score; of equal scores the first. */
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
 * Smooth weighted round-robin over the eligible members: each choice adds every eligible member's weight to its credit,
 * takes the member with the most credit, and subtracts the total weight from it.
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
